// A plugin tried out in a fresh sandbox of the pool that has no network: set up, and each tool called with its example.
#pragma once

#include <stop_token>

#include "base/result.h"
#include "plugin/recipe.h"
#include "server/state/pool_desk.h"
#include "tool/value.h"

namespace hutch::server {

// {ok, id, name, hash, notes, steps: [{step, ok, log}], tools: [{name, tried, ok, exit_code, stdout, stderr,
// message}]}. An error where nothing could be tried.
Result<tool::Value> try_plugin(PoolDesk& pool, const plugin::Recipe& recipe, const std::stop_token& stop);

}  // namespace hutch::server
