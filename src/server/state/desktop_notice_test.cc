// What a desktop and a terminal are told.
#include "server/state/desktop_notice.h"

#include <gtest/gtest.h>

namespace hutch::server {
namespace {

TEST(DesktopNotice, PluginIsNamedWithTheCommands) {
  const NoticeText text = plugin_notice("ada", "greeter");
  EXPECT_EQ(text.summary, "hutch: agent ada made a plugin");
  EXPECT_NE(text.body.find("hutch plugin remove greeter"), std::string::npos);
  EXPECT_NE(plugin_line("ada", "greeter").find("hutch plugin remove greeter"), std::string::npos);
}

TEST(DesktopNotice, TextIsHarmlessWhateverTheNameIs) {
  const NoticeText text = plugin_notice("a\x1b[2Jb", "<a href=x>&\n");
  EXPECT_EQ(text.summary.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.body.find_first_of("<>\n"), std::string::npos);
  EXPECT_NE(text.body.find("&lt;a href=x&gt;&amp;"), std::string::npos);
  EXPECT_EQ(plugin_line("a\nb", "\x1b]0;x\a").find_first_of("\n\x1b\a"), std::string::npos);
}

}  // namespace
}  // namespace hutch::server
