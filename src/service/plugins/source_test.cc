// What git is started with.
#include "service/plugins/source.h"

#include <gtest/gtest.h>

namespace hutch::service {
namespace {

TEST(PluginSource, GitReachesNoOtherTransports) {
  for (const char* address : {"https://example.com/a.git", "http://example.com/a.git", "ssh://git@example.com/a",
                              "git@example.com:a/b.git", "file:///srv/a", "/srv/a", "./a::b", "../a", "host:a"}) {
    EXPECT_TRUE(check_git_address(address)) << address;
  }
  for (const char* address :
       {"ext::sh -c id", "fd::17/foo", "http::https://example.com", "file::/srv/a", "git://example.com/a",
        "ftp://example.com/a", "foo://a", "", "-x", "--upload-pack=id", "ssh://-oProxyCommand=id/x",
        "ssh://u@-oProxyCommand=id/x", "-oProxyCommand=id:a", "u@-oProxyCommand=id:a", "ext::sh"}) {
    EXPECT_FALSE(check_git_address(address)) << address;
  }
}

}  // namespace
}  // namespace hutch::service
