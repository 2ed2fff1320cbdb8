// The mask that what this process makes begins with.
#pragma once

namespace hutch::sys {

// Of a process of one thread: it is set to be read (umask(2)).
unsigned own_umask();

}  // namespace hutch::sys
