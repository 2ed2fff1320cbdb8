// sandbox.json: what is read, what is refused.
#include "store/machine_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::store {
namespace {

using Network = MachineSettings::Network;

TEST(MachineSettings, IsWhatTheSeedSays) {
  const auto read =
      parse_machine_settings(R"({"autoStart": false, "cpus": 4, "memoryGB": 8, "network": "none"})", "sandbox.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, (MachineSettings{false, 4, 8, Network::kNone}));
  EXPECT_EQ(parse_machine_settings("{}", "x").value(), MachineSettings());
  EXPECT_EQ(parse_machine_settings(machine_settings_text(*read), "x").value(), *read);
}

TEST(MachineSettings, RangesAreHeld) {
  for (const char* text : {R"({"cpus": 0})", R"({"cpus": 9})", R"({"cpus": 1.5})", R"({"cpus": "2"})",
                           R"({"cpus": -1})", R"({"memoryGB": 0})", R"({"memoryGB": 64})", R"({"autoStart": 1})",
                           R"({"network": "host"})", R"({"network": null})", R"({"cpu": 2})", "[]", "{", ""}) {
    const auto read = parse_machine_settings(text, "sandbox.json");
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, testing::HasSubstr("sandbox.json")) << text;
  }
}

TEST(MachineSettings, OneIsChangedByItsText) {
  MachineSettings settings = with_machine_setting({}, "cpus", "3").value();
  settings = with_machine_setting(settings, "network", "none").value();
  settings = with_machine_setting(settings, "autoStart", "false").value();
  EXPECT_EQ(settings, (MachineSettings{false, 3, 2, Network::kNone}));
  for (const std::string_view name : machine_setting_names()) {
    const std::string text = machine_setting_text(settings, name);
    EXPECT_EQ(machine_setting_text(with_machine_setting({}, name, text).value(), name), text);
  }
  EXPECT_FALSE(with_machine_setting({}, "cpus", "many"));
  EXPECT_FALSE(with_machine_setting({}, "cpus", ""));
  EXPECT_FALSE(with_machine_setting({}, "disk", "8"));
}

}  // namespace
}  // namespace hutch::store
