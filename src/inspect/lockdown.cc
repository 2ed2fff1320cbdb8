// What this process gives up once it has read its files.
#include "inspect/lockdown.h"

#include "sys/identity.h"
#include "sys/lockdown.h"
#include "sys/process.h"

namespace hutch::inspect {

Status protect_process() {
  TRY(sys::limit_resource(sys::Resource::kCoreSize, 0));
  TRY(sys::not_dumpable());
  return sys::no_new_privileges();
}

Status lock_down() {
  const int abi = TRY(sys::landlock_abi());
  return sys::enter_landlock(abi, {}, {});
}

}  // namespace hutch::inspect
