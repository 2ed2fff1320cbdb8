// What agents remember, by SQLite's full-text index. sqlite.org/fts5.html.
#include "store/memories.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/utf8.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::store {

namespace {

// The index holds the text by reference to the table. Both are changed together by what follows, not by triggers: these
// may use no virtual table where the schema is not trusted (sqlite.org/pragma.html, trusted_schema).
constexpr const char* kMemoriesSchema =
    "CREATE TABLE IF NOT EXISTS memory (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL,"
    " salience INTEGER NOT NULL, created INTEGER NOT NULL, source TEXT NOT NULL) STRICT;"
    "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(content, content='memory', content_rowid='id',"
    " tokenize='unicode61 remove_diacritics 2');";

// bm25() looks at each text of each word, once more for how rare it is: a word that is in most of them costs the most
// and tells the least. So many are ranked, and a word is counted that far.
constexpr std::int64_t kRankedMax = 2000;
constexpr std::int64_t kCountedMax = 10'000;
constexpr int kCandidatesMax = 200;
constexpr std::size_t kWordsMax = 32;
constexpr std::int64_t kAllMemoriesBytesMax = 256 << 20;  // per agent, on disk
constexpr double kSalienceParts = 1000;

Memory memory_of(const Statement& row) {
  return {.id = row.number(0),
          .content = row.text(1),
          .salience = static_cast<double>(row.number(2)) / kSalienceParts,
          .created = row.number(3),
          .source = row.text(4)};
}

// Its table and its index, without pages that are free.
Result<std::int64_t> bytes_in_use(Database& database) {
  Statement size =
      TRY(database.prepare("SELECT (p.page_count - f.freelist_count) * s.page_size FROM pragma_page_count() AS p,"
                           " pragma_freelist_count() AS f, pragma_page_size() AS s"));
  TRY(size.step());
  return size.number(0);
}

// All of it, or nothing.
template <class Work>
Result<std::int64_t> in_transaction(Database& database, const Work& work) {
  TRY(database.execute("BEGIN IMMEDIATE"));
  Result<std::int64_t> done = work();
  const Status ended = database.execute(done ? "COMMIT" : "ROLLBACK");
  if (done && !ended) {
    (void)database.execute("ROLLBACK");
    return fail(ended.error());
  }
  return done;
}

// How many there were. First out of the index, which needs their texts for that.
Result<std::int64_t> remove_where(Database& database, std::string_view which, std::int64_t number) {
  Statement index = TRY(database.prepare(
      cat({"INSERT INTO words(words, rowid, content) SELECT 'delete', id, content FROM memory WHERE ", which})));
  TRY(index.bind(1, number).run());
  Statement remove = TRY(database.prepare(cat({"DELETE FROM memory WHERE ", which})));
  TRY(remove.bind(1, number).run());
  return database.changes();
}

Result<std::int64_t> insert_memory(Database& database, const Memory& memory) {
  Statement insert = TRY(
      database.prepare("INSERT INTO memory (content, salience, created, source) VALUES (?1, ?2, ?3, ?4) RETURNING id"));
  insert.bind(1, memory.content)
      .bind(2, static_cast<std::int64_t>(std::lround(memory.salience * kSalienceParts)))
      .bind(3, memory.created)
      .bind(4, memory.source);
  TRY(insert.step());
  const std::int64_t id = insert.number(0);
  TRY(insert.step());
  Statement index = TRY(database.prepare("INSERT INTO words(rowid, content) VALUES (?1, ?2)"));
  TRY(index.bind(1, id).bind(2, memory.content).run());
  TRY(remove_where(database, "id <= ?1", id - kMemoriesMax));
  return id;
}

bool is_word(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

}  // namespace

std::vector<std::string> memory_words(std::string_view words) {
  std::vector<std::string> phrases;
  std::string word;
  const auto finish = [&] {
    const std::string phrase = cat({"\"", word, "\""});
    const bool is_new = std::ranges::find(phrases, phrase) == phrases.end();
    if (!word.empty() && is_new && phrases.size() < kWordsMax) phrases.push_back(phrase);
    word.clear();
  };
  for (const char c : words) {
    if (is_word(static_cast<unsigned char>(c))) {
      word += c;
    } else {
      finish();
    }
  }
  finish();
  return phrases;
}

// The rarest words, as many as find no more than are ranked; the rarest at any rate. Empty: there is no word, or none
// that anything has.
Result<std::string> Memories::telling_query(Database& database, std::string_view words) {
  std::vector<std::pair<std::int64_t, std::string>> counted;
  for (std::string& phrase : memory_words(words)) {
    Statement count =
        TRY(database.prepare(cat({"SELECT COUNT(*) FROM (SELECT rowid FROM words WHERE words MATCH ?1 LIMIT ",
                                  std::to_string(kCountedMax), ")"})));
    count.bind(1, phrase);
    TRY(count.step());
    if (count.number(0) > 0) counted.emplace_back(count.number(0), std::move(phrase));
  }
  std::ranges::stable_sort(counted, {}, [](const auto& one) { return one.first; });
  std::string query;
  std::int64_t total = 0;
  for (const auto& [found, phrase] : counted) {
    total += found;
    if (!query.empty() && total > kRankedMax) break;
    query += cat({query.empty() ? "" : " OR ", phrase});
  }
  return query;
}

double memory_score(double fit, double salience, std::int64_t age_ms) {
  static constexpr double kHalfLifeMs = 30.0 * 24 * 3600 * 1000;
  const double recency = std::exp2(-static_cast<double>(std::max<std::int64_t>(age_ms, 0)) / kHalfLifeMs);
  return 0.6 * fit + 0.2 * recency + 0.2 * salience;
}

Result<std::int64_t> Memories::add(const std::string& agent, const Memory& memory) {
  const bool is_text = is_utf8(memory.content) && !memory.content.contains('\0');
  if (memory.content.empty() || memory.content.size() > kMemoryBytesMax || !is_text) {
    return fail(
        Error::invalid(cat({"what is remembered is text of 1 to ", std::to_string(kMemoryBytesMax), " bytes"})));
  }
  if (!(memory.salience >= 0 && memory.salience <= 1)) return fail(Error::invalid("salience is a number from 0 to 1"));
  const std::scoped_lock lock(mutex_);
  Database& database = *TRY(database_of(agent));
  if (TRY(bytes_in_use(database)) >= kAllMemoriesBytesMax) {
    return fail(Error{.code = Code::kConflict,
                      .message = cat({"the agent's memories take ", std::to_string(kAllMemoriesBytesMax >> 20),
                                      " MiB already, as many as they may; some have to be forgotten first"})});
  }
  return in_transaction(database, [&] { return insert_memory(database, memory); });
}

Result<std::vector<Memory>> Memories::find(const std::string& agent, std::string_view words, std::size_t most,
                                           std::int64_t now) {
  if (!is_utf8(words)) return fail(Error::invalid("what is looked for is text"));
  if (memory_words(words).empty()) return newest(agent, most);
  const std::scoped_lock lock(mutex_);
  Database& database = *TRY(database_of(agent));
  const std::string query = TRY(telling_query(database, words));
  if (query.empty()) return std::vector<Memory>();
  Statement select = TRY(database.prepare(
      cat({"SELECT m.id, m.content, m.salience, m.created, m.source, CAST(f.fit * -1000000 AS INTEGER) FROM"
           " (SELECT id, fit FROM (SELECT rowid AS id, bm25(words) AS fit FROM words WHERE words MATCH ?1"
           "  ORDER BY rowid DESC LIMIT ",
           std::to_string(kRankedMax), ") ORDER BY fit LIMIT ", std::to_string(kCandidatesMax),
           ") AS f JOIN memory AS m ON m.id = f.id"})));
  select.bind(1, query);
  struct Ranked {
    Memory memory;
    double fit = 0;
  };
  std::vector<Ranked> found;
  while (TRY(select.step())) found.push_back({memory_of(select), static_cast<double>(select.number(5))});
  double best = 1;
  for (const Ranked& one : found) best = std::max(best, one.fit);
  const auto score = [&](const Ranked& one) {
    return -memory_score(std::max(one.fit, 0.0) / best, one.memory.salience, now - one.memory.created);
  };
  std::ranges::stable_sort(found, {}, score);
  std::vector<Memory> memories;
  for (Ranked& one : found) {
    if (memories.size() == std::min(most, kMemoriesFoundMax)) break;
    memories.push_back(std::move(one.memory));
  }
  return memories;
}

Result<std::vector<Memory>> Memories::newest(const std::string& agent, std::size_t most) {
  const std::scoped_lock lock(mutex_);
  Database& database = *TRY(database_of(agent));
  Statement select =
      TRY(database.prepare("SELECT id, content, salience, created, source FROM memory ORDER BY id DESC LIMIT ?1"));
  select.bind(1, static_cast<std::int64_t>(std::min(most, kMemoriesFoundMax)));
  std::vector<Memory> memories;
  while (TRY(select.step())) memories.push_back(memory_of(select));
  return memories;
}

Result<bool> Memories::remove(const std::string& agent, std::int64_t id) {
  const std::scoped_lock lock(mutex_);
  Database& database = *TRY(database_of(agent));
  const auto remove = [&]() -> Result<std::int64_t> { return remove_where(database, "id = ?1", id); };
  return TRY(in_transaction(database, remove)) > 0;
}

Result<std::int64_t> Memories::count(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  Database& database = *TRY(database_of(agent));
  Statement select = TRY(database.prepare("SELECT COUNT(*) FROM memory"));
  TRY(select.step());
  return select.number(0);
}

Status Memories::forget(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  open_.erase(agent);
  for (const char* beside : {"-wal", "-shm", ""}) {
    const std::string path = cat({path_of(agent), beside});
    if (TRY(sys::status_of(path))) TRY(sys::unlink_at(sys::kCwd, path));
  }
  return {};
}

std::string Memories::path_of(const std::string& agent) const { return cat({directory_, "/", agent, ".db"}); }

Result<Database*> Memories::database_of(const std::string& agent) {
  const auto known = open_.find(agent);
  if (known != open_.end()) return &known->second;
  Database database = TRY(Database::open(path_of(agent)));
  TRY_CTX(database.execute(kMemoriesSchema), "make the index of memories");
  return &open_.emplace(agent, std::move(database)).first->second;
}

}  // namespace hutch::store
