// Which hosts the configuration of package managers names.
#include "service/package_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::service {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PackageHosts, OfAptInBothForms) {
  EXPECT_THAT(package_hosts_in("deb http://a.example/debian stable main\n"
                               "deb [arch=amd64 signed-by=/k] https://b.example:8443/x ./\n"
                               "# deb http://c.example/ x y\n"),
              ElementsAre("a.example:80", "b.example:8443"));
  EXPECT_THAT(
      package_hosts_in("Types: deb\nURIs: http://A.example/x https://b.example/y\n mirror+https://c.example/z\n"),
      ElementsAre("a.example:80", "b.example:443", "c.example:443"));
}

TEST(PackageHosts, OfApkAndDnf) {
  EXPECT_THAT(package_hosts_in("https://a.example/alpine/v3/main\n@edge http://a.example/edge\n"),
              ElementsAre("a.example:443", "a.example:80"));
  EXPECT_THAT(package_hosts_in("[x]\nbaseurl=https://b.example/$releasever/\nmetalink=https://c.example/ml?repo=x\n"),
              ElementsAre("b.example:443", "c.example:443"));
}

TEST(PackageHosts, NothingOfThisMachineOrItsNetwork) {
  EXPECT_THAT(package_hosts_in("http://localhost/x\nhttp://127.0.0.1/x\nhttp://[::1]:80/\nhttp://printer/x\n"
                               "http://169.254.169.254/latest\nhttp://2130706433/\nhttp://a.localhost/\n"),
              IsEmpty());
}

TEST(PackageHosts, NothingThatIsNoHost) {
  EXPECT_THAT(package_hosts_in("http://$mirror.example/\nhttp://*.example/\nhttp:///x\nfile:/srv/x\nhttps://\n"
                               "http://a..example/\nhttp://a.example:0/\nhttp://a.example:99999/"),
              IsEmpty());
  EXPECT_THAT(package_hosts_in("http://user:word@a.example/"), ElementsAre("a.example:80"));
}

}  // namespace
}  // namespace hutch::service
