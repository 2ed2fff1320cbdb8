// What wakes a thread that polls.
#include "sys/event.h"

#include <sys/eventfd.h>

#include <cstdint>

#include "sys/call.h"

namespace hutch::sys {

Result<Event> Event::make() { return Event(TRY(check_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), {"eventfd()"}))); }

// Full means that it is signalled already.
void Event::signal() const {
  (void)retry([&] { return ::eventfd_write(fd_.get(), 1); });
}

void Event::clear() const {
  std::uint64_t count = 0;
  (void)retry([&] { return ::eventfd_read(fd_.get(), &count); });
}

}  // namespace hutch::sys
