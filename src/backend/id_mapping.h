// Giving a process that has entered a user namespace the ids of a map.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "plan/id_map.h"

namespace hutch::backend {

// As root by itself, else by newuidmap and newgidmap, which judge what this user may (user_namespaces(7)).
Status map_ids_of(pid_t process, const plan::IdMap& map);

}  // namespace hutch::backend
