// Which hosts the configuration of package managers names.
#include "service/common/package_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

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

ImageFiles image(std::map<std::string, std::string> files) {
  ImageFiles made;
  made.names = [files](const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& [path, text] : files) {
      if (!path.starts_with(directory + "/")) continue;
      const std::string rest = path.substr(directory.size() + 1);
      names.push_back(rest.substr(0, rest.find('/')));
    }
    return names;
  };
  made.text = [files](const std::string& file, std::size_t) -> std::optional<std::string> {
    const auto found = files.find(file);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  return made;
}

constexpr std::string_view kPip =
    "class PackageIndex:\n\nPyPI = PackageIndex(\"https://index.example/\", "
    "file_storage_domain=\"files.example.net\")\n"
    "TestPyPI = PackageIndex(\n    \"https://test.example/\", file_storage_domain=\"test-files.example\"\n)\n";
constexpr std::string_view kNpm =
    "  'proxy': new Definition('proxy', {\n    default: null, description: 'http://p.example',\n  registry: new "
    "Definition('registry', {\n    default: 'https://registry.example/',\n    type: url,\n";

TEST(PackageHosts, OfPipAndNpmAreWhatTheirProgramsHave) {
  EXPECT_THAT(hosts_of_pip(kPip), ElementsAre("index.example:443", "files.example.net:443"));
  EXPECT_THAT(hosts_of_npm(kNpm), ElementsAre("registry.example:443"));
  EXPECT_THAT(hosts_of_pip("nothing"), IsEmpty());
  EXPECT_THAT(hosts_of_npm("nothing"), IsEmpty());
  EXPECT_THAT(language_hosts(image({})), IsEmpty());
  const std::string pip = "usr/lib/python3/dist-packages/pip/_internal/models/index.py";
  const std::string npm = "usr/share/nodejs/@npmcli/config/lib/definitions/definitions.js";
  EXPECT_THAT(language_hosts(image({{pip, std::string(kPip)}, {npm, std::string(kNpm)}})),
              ElementsAre("index.example:443", "files.example.net:443", "registry.example:443"));
}

TEST(PackageHosts, OfPipAndNpmAreWhatTheirConfigurationSays) {
  const std::string pip = "usr/local/lib/python3.12/site-packages/pip/_internal/models/index.py";
  EXPECT_THAT(language_hosts(image({{pip, std::string(kPip)},
                                    {"etc/pip.conf", "[global]\nextra-index-url = https://more.example/simple\n"}})),
              ElementsAre("more.example:443", "index.example:443", "files.example.net:443"));
  EXPECT_THAT(language_hosts(image({{pip, std::string(kPip)},
                                    {"etc/pip.conf", "[global]\nindex-url = http://u:w@mirror.example:8080/simple\n"},
                                    {"etc/npmrc", "; https://no.example\nregistry=https://npm.example/\n"}})),
              ElementsAre("mirror.example:8080", "npm.example:443"));
}

TEST(PackageHosts, NothingThatIsNoHost) {
  EXPECT_THAT(package_hosts_in("http://$mirror.example/\nhttp://*.example/\nhttp:///x\nfile:/srv/x\nhttps://\n"
                               "http://a..example/\nhttp://a.example:0/\nhttp://a.example:99999/"),
              IsEmpty());
  EXPECT_THAT(package_hosts_in("http://user:word@a.example/"), ElementsAre("a.example:80"));
}

}  // namespace
}  // namespace hutch::service
