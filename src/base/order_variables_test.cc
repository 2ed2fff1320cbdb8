// Which variables programs take orders from.
#include "base/order_variables.h"

#include <gtest/gtest.h>

namespace hutch {
namespace {

TEST(OrderVariablesTest, WhatRunsLoadsOrTrusts) {
  for (const char* name : {"PATH",
                           "HOME",
                           "LD_PRELOAD",
                           "LD_AUDIT",
                           "BASH_ENV",
                           "ENV",
                           "IFS",
                           "PS4",
                           "PROMPT_COMMAND",
                           "SHELLOPTS",
                           "BASHOPTS",
                           "GLIBC_TUNABLES",
                           "GCONV_PATH",
                           "PYTHONPATH",
                           "PYTHONSTARTUP",
                           "PERL5LIB",
                           "PERL5DB",
                           "RUBYOPT",
                           "NODE_OPTIONS",
                           "GIT_SSH_COMMAND",
                           "GIT_EXTERNAL_DIFF",
                           "GIT_CONFIG_COUNT",
                           "HUTCH_BRIDGE",
                           "PARAM_X",
                           "http_proxy",
                           "HTTPS_PROXY",
                           "ALL_PROXY",
                           "no_proxy",
                           "SSL_CERT_FILE",
                           "SSL_CERT_DIR",
                           "NODE_EXTRA_CA_CERTS",
                           "TMPDIR",
                           "EDITOR",
                           "LESSOPEN",
                           "JAVA_TOOL_OPTIONS",
                           "BASH_FUNC_x",
                           "path",
                           "Ld_Preload"}) {
    EXPECT_TRUE(takes_orders(name)) << name;
  }
}

TEST(OrderVariablesTest, WhatPeopleKeepAsSecrets) {
  for (const char* name :
       {"TOKEN", "OPENAI_API_KEY", "GITHUB_TOKEN", "GIT_TOKEN", "CARGO_REGISTRY_TOKEN", "AWS_SECRET_ACCESS_KEY",
        "DATABASE_URL", "PASSWORD", "PATHS", "HOMEPAGE_KEY", "LESSON_KEY", "NPM_TOKEN", ""}) {
    EXPECT_FALSE(takes_orders(name)) << name;
  }
}

}  // namespace
}  // namespace hutch
