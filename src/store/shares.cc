// Shares in their database.
#include "store/shares.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/base64.h"
#include "base/text.h"
#include "sys/files/tree.h"
#include "sys/net/local_socket.h"

namespace hutch::store {

namespace {

constexpr const char* kSharesSchema =
    "CREATE TABLE IF NOT EXISTS shares (id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, user TEXT NOT NULL,"
    " agent INTEGER NOT NULL, owner INTEGER NOT NULL, writable INTEGER NOT NULL, state TEXT NOT NULL,"
    " since TEXT NOT NULL, device INTEGER NOT NULL DEFAULT 0, inode INTEGER NOT NULL DEFAULT 0,"
    " born INTEGER NOT NULL DEFAULT 0, UNIQUE (path, agent)) STRICT;"
    "CREATE TABLE IF NOT EXISTS originals (device INTEGER NOT NULL, inode INTEGER NOT NULL, path TEXT NOT NULL,"
    " access TEXT NOT NULL, defaults TEXT NOT NULL, linked INTEGER NOT NULL DEFAULT 0, grouped INTEGER NOT NULL "
    "DEFAULT 0,"
    " PRIMARY KEY (device, inode)) STRICT;"
    "CREATE TABLE IF NOT EXISTS opened (path TEXT NOT NULL, agent INTEGER NOT NULL, before TEXT NOT NULL,"
    " PRIMARY KEY (path, agent)) STRICT;"
    "CREATE TABLE IF NOT EXISTS copies (id INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL,"
    " user TEXT NOT NULL, agent INTEGER NOT NULL, home TEXT NOT NULL, destination TEXT NOT NULL,"
    " temporary TEXT NOT NULL, whole INTEGER NOT NULL, since TEXT NOT NULL) STRICT;";

struct NamedState {
  ShareState state;
  std::string_view name;
};
constexpr std::array kStates = {NamedState{ShareState::kPreparing, "preparing"},
                                NamedState{ShareState::kSharing, "sharing"}, NamedState{ShareState::kShared, "shared"},
                                NamedState{ShareState::kEnding, "ending"}};

std::string acl_text(const plan::Acl& acl) { return acl.empty() ? std::string() : to_base64(plan::encode_acl(acl)); }

Result<plan::Acl> acl_of(const std::string& text) {
  if (text.empty()) return plan::Acl();
  const auto bytes = from_base64(text);
  if (!bytes) return fail(Error::invalid("the registry of shares holds an access control list that is none"));
  return plan::parse_acl(*bytes);
}

// To a registry that was made without it.
Status add_column(Database& database, const std::string& table, const std::string& name) {
  Statement columns = TRY(database.prepare("SELECT name FROM pragma_table_info(?1) WHERE name = ?2"));
  columns.bind(1, table).bind(2, name);
  if (TRY(columns.step())) return {};
  return database.execute(cat({"ALTER TABLE ", table, " ADD COLUMN ", name, " INTEGER NOT NULL DEFAULT 0"}));
}

// SQLite's numbers have a sign; the bits are the same.
std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }

}  // namespace

std::string_view name_of(ShareState state) { return std::ranges::find(kStates, state, &NamedState::state)->name; }

Result<Shares> Shares::open(const std::string& data) {
  TRY(sys::make_private_directories(data));
  auto lock = TRY(sys::try_lock_file(cat({data, "/shares.lock"})));
  if (!lock) {
    return fail(
        Error{.code = Code::kConflict, .message = "another hutch is sharing or unsharing: wait until it is done"});
  }
  Database database = TRY(Database::open(cat({data, "/shares.db"})));
  TRY(database.execute(kSharesSchema));
  for (const char* name : {"device", "inode", "born"}) TRY(add_column(database, "shares", name));
  for (const char* name : {"linked", "grouped"}) TRY(add_column(database, "originals", name));
  return Shares(std::move(*lock), std::move(database));
}

Result<std::vector<Share>> Shares::list() {
  Statement select =
      TRY(database_.prepare("SELECT id, path, user, agent, owner, writable, state, since, device, inode, born FROM "
                            "shares ORDER BY path, agent"));
  std::vector<Share> shares;
  while (TRY(select.step())) {
    const auto state = std::ranges::find(kStates, select.text(6), &NamedState::name);
    if (state == kStates.end()) return fail(Error::invalid("the registry of shares holds an unknown state"));
    shares.push_back({.id = select.number(0),
                      .path = select.text(1),
                      .user = select.text(2),
                      .agent = static_cast<std::uint32_t>(select.number(3)),
                      .owner = static_cast<std::uint32_t>(select.number(4)),
                      .mode = select.number(5) != 0 ? plan::ShareMode::kReadWrite : plan::ShareMode::kReadOnly,
                      .state = state->state,
                      .since = select.text(7),
                      .device = static_cast<std::uint64_t>(select.number(8)),
                      .inode = static_cast<std::uint64_t>(select.number(9)),
                      .born_ns = select.number(10)});
  }
  return shares;
}

Result<std::int64_t> Shares::add(const Share& share) {
  Statement insert =
      TRY(database_.prepare("INSERT INTO shares (path, user, agent, owner, writable, state, since, device, inode, born)"
                            " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10) RETURNING id"));
  insert.bind(1, share.path).bind(2, share.user).bind(3, share.agent).bind(4, share.owner);
  insert.bind(5, share.mode == plan::ShareMode::kReadWrite ? 1 : 0).bind(6, name_of(share.state)).bind(7, share.since);
  insert.bind(8, signed_of(share.device)).bind(9, signed_of(share.inode)).bind(10, share.born_ns);
  TRY(insert.step());
  const std::int64_t id = insert.number(0);
  while (TRY(insert.step())) {}
  return id;
}

Status Shares::update(std::int64_t id, plan::ShareMode mode, ShareState state) {
  Statement update = TRY(database_.prepare("UPDATE shares SET writable = ?2, state = ?3 WHERE id = ?1"));
  return update.bind(1, id).bind(2, mode == plan::ShareMode::kReadWrite ? 1 : 0).bind(3, name_of(state)).run();
}

Status Shares::set_root(const Share& share) {
  Statement update = TRY(database_.prepare("UPDATE shares SET device = ?2, inode = ?3, born = ?4 WHERE id = ?1"));
  update.bind(1, share.id).bind(2, signed_of(share.device)).bind(3, signed_of(share.inode)).bind(4, share.born_ns);
  return update.run();
}

Status Shares::renumber(const Share& share, std::uint64_t device) {
  for (const char* table : {"shares", "originals"}) {
    Statement update = TRY(database_.prepare(cat({"UPDATE OR IGNORE ", table,
                                                  " SET device = ?2 WHERE device = ?1"
                                                  " AND (path = ?3 OR substr(path, 1, length(?3) + 1) = ?3 || '/')"})));
    TRY(update.bind(1, signed_of(share.device)).bind(2, signed_of(device)).bind(3, share.path).run());
  }
  return {};
}

Status Shares::remove(std::int64_t id) {
  Statement remove = TRY(database_.prepare("DELETE FROM shares WHERE id = ?1"));
  return remove.bind(1, id).run();
}

Status Shares::remember(const std::vector<OriginalLists>& files) {
  TRY(database_.execute("BEGIN IMMEDIATE"));
  for (const OriginalLists& file : files) {
    Statement insert =
        TRY(database_.prepare("INSERT OR IGNORE INTO originals (device, inode, path, access, defaults, linked, grouped)"
                              " VALUES (?1,?2,?3,?4,?5,?6,?7)"));
    insert.bind(1, signed_of(file.device)).bind(2, signed_of(file.inode)).bind(3, file.path);
    insert.bind(4, acl_text(file.lists.access)).bind(5, acl_text(file.lists.defaults)).bind(6, file.is_linked ? 1 : 0);
    insert.bind(7, file.is_grouped ? 1 : 0);
    TRY(insert.run());
  }
  return database_.execute("COMMIT");
}

Result<std::vector<OriginalLists>> Shares::originals() {
  Statement select =
      TRY(database_.prepare("SELECT device, inode, path, access, defaults, linked, grouped FROM originals"));
  std::vector<OriginalLists> files;
  while (TRY(select.step())) {
    OriginalLists file{.device = static_cast<std::uint64_t>(select.number(0)),
                       .inode = static_cast<std::uint64_t>(select.number(1)),
                       .path = select.text(2),
                       .lists = {},
                       .is_linked = select.number(5) != 0,
                       .is_grouped = select.number(6) != 0};
    file.lists.access = TRY(acl_of(select.text(3)));
    file.lists.defaults = TRY(acl_of(select.text(4)));
    files.push_back(std::move(file));
  }
  return files;
}

Status Shares::forget(const std::vector<OriginalLists>& files) {
  TRY(database_.execute("BEGIN IMMEDIATE"));
  for (const OriginalLists& file : files) {
    Statement remove = TRY(database_.prepare("DELETE FROM originals WHERE device = ?1 AND inode = ?2"));
    TRY(remove.bind(1, signed_of(file.device)).bind(2, signed_of(file.inode)).run());
  }
  return database_.execute("COMMIT");
}

Status Shares::add_opened(const OpenedDirectory& directory) {
  Statement insert = TRY(database_.prepare("INSERT OR IGNORE INTO opened (path, agent, before) VALUES (?1, ?2, ?3)"));
  return insert.bind(1, directory.path).bind(2, directory.agent).bind(3, acl_text(directory.before)).run();
}

Result<std::vector<OpenedDirectory>> Shares::opened() {
  Statement select = TRY(database_.prepare("SELECT path, agent, before FROM opened ORDER BY rowid"));
  std::vector<OpenedDirectory> directories;
  while (TRY(select.step())) {
    OpenedDirectory directory{.path = select.text(0), .agent = static_cast<std::uint32_t>(select.number(1))};
    directory.before = TRY(acl_of(select.text(2)));
    directories.push_back(std::move(directory));
  }
  return directories;
}

Status Shares::remove_opened(const OpenedDirectory& directory) {
  Statement remove = TRY(database_.prepare("DELETE FROM opened WHERE path = ?1 AND agent = ?2"));
  return remove.bind(1, directory.path).bind(2, directory.agent).run();
}

Result<std::vector<Copy>> Shares::copies() {
  Statement select = TRY(database_.prepare(
      "SELECT id, source, user, agent, home, destination, temporary, whole, since FROM copies ORDER BY source, id"));
  std::vector<Copy> copies;
  while (TRY(select.step())) {
    copies.push_back({.id = select.number(0),
                      .source = select.text(1),
                      .user = select.text(2),
                      .agent = static_cast<std::uint32_t>(select.number(3)),
                      .home = select.text(4),
                      .into = select.text(5),
                      .temporary = select.text(6),
                      .state = select.number(7) != 0 ? Copy::State::kCopied : Copy::State::kCopying,
                      .since = select.text(8)});
  }
  return copies;
}

Result<std::int64_t> Shares::add_copy(const Copy& copy) {
  Statement insert =
      TRY(database_.prepare("INSERT INTO copies (source, user, agent, home, destination, temporary, whole, since)"
                            " VALUES (?1,?2,?3,?4,?5,?6,?7,?8) RETURNING id"));
  insert.bind(1, copy.source).bind(2, copy.user).bind(3, copy.agent).bind(4, copy.home).bind(5, copy.into);
  insert.bind(6, copy.temporary).bind(7, copy.state == Copy::State::kCopied ? 1 : 0).bind(8, copy.since);
  TRY(insert.step());
  const std::int64_t id = insert.number(0);
  while (TRY(insert.step())) {}
  return id;
}

Status Shares::finish_copy(std::int64_t id) {
  Statement update = TRY(database_.prepare("UPDATE copies SET whole = 1 WHERE id = ?1"));
  return update.bind(1, id).run();
}

Status Shares::remove_copy(std::int64_t id) {
  Statement remove = TRY(database_.prepare("DELETE FROM copies WHERE id = ?1"));
  return remove.bind(1, id).run();
}

}  // namespace hutch::store
