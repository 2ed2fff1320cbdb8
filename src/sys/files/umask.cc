// umask(2).
#include "sys/files/umask.h"

#include <sys/stat.h>

namespace hutch::sys {

unsigned own_umask() {
  const unsigned mask = ::umask(077);
  ::umask(mask);
  return mask;
}

}  // namespace hutch::sys
