// From rules to mounts. Each path that a rule names becomes a node with the view that judge() gives it; where a node's
// view differs from that of the node above it, a mount makes the difference. So explain, check and the kernel agree.
#include "plan/make/mounts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "base/limits.h"
#include "base/text.h"
#include "plan/make/mount_nodes.h"
#include "plan/quotas.h"
#include "policy/decide.h"

namespace hutch::plan {

namespace {

using policy::Rule;
using policy::View;

// Hidden directories can be passed through, to what is visible below them, and not listed.
constexpr unsigned kHiddenDirectoryMode = 0111;

// What lies at a place when the nodes below it are planned.
enum class Ground {
  kOwn,            // a tmpfs of the plan: names have to be made
  kHostReadOnly,   // a bind: names are there, none may be made
  kHostReadWrite,  // likewise
};

class TreePlanner {
 public:
  explicit TreePlanner(const PlanInput& input) : input_(input) {}
  MountTree run();
  MountTree run_cover(const std::string& path);

 private:
  void collect_nodes();
  void judge_nodes();
  void find_private_home();
  void pin_ancestors();
  void link_children();
  void add_node(const std::string& path);
  void add_pins_above(const std::string& path);
  const Node& node_above(std::string_view path) const;
  View view_above(std::string_view path) const { return node_above(path).view; }
  void place(const Node& node, Ground ground);
  void place_children(const Node& node, Ground ground);
  void place_root();
  void place_image();
  void place_account();
  void place_in_image(const Node& node);
  void place_trust();
  void place_shares();
  void place_covered(const CoveredFile& file);
  void cover(const std::string& target, std::string file);
  void place_host(const Node& node, Ground ground);
  void place_hidden(const Node& node, Ground ground);
  void place_private_home(const Node& node, Ground ground);
  void place_in_home(const std::string& path, const std::string& content);
  void place_closed(const Node& node);
  void place_links(const Node& node);
  bool has_link(const PathLink& link) const;
  void place_private(const Node& node, Ground ground);
  void place_in_private(const Node& node, Ground ground);
  void place_proc(const Node& node);
  void place_sys(const Node& node);
  void place_devices(const Node& node);
  void make_parents(std::string_view path);
  void make_directory(const std::string& path, unsigned mode);
  void mount_spacious(const std::string& path, unsigned mode, MakeTarget make);
  void bind(const Node& node, Access access, MakeTarget make);
  void mount_tmpfs(const std::string& path, unsigned mode, std::uint64_t size_bytes, MakeTarget make);
  void seal(const std::string& path);
  Identity identity_of(const Node& node) const;
  bool stands_by_itself(const Node& node) const;
  bool is_in_private_home(std::string_view path) const;
  bool has_engine() const { return input_.image != nullptr && input_.image->is_engines(); }

  const PlanInput& input_;
  std::map<std::string, Node, PathOrder> found_;
  const Node* private_home_ = nullptr;
  const Node* closed_ = nullptr;  // a directory of the private home above the project
  std::vector<std::size_t> spacious_;  // steps of tmpfs that may use as much as memory allows
  std::vector<std::size_t> small_;     // steps of tmpfs with their own size
  std::set<std::string, PathOrder> made_;  // directories that exist on the plan's own tmpfs
  MountTree tree_;
};

}  // namespace

MountTree plan_mounts(const PlanInput& input) { return TreePlanner(input).run(); }

MountTree plan_cover(const PlanInput& input, const std::string& path) { return TreePlanner(input).run_cover(path); }

bool shows_host(const policy::Rule& rule) {
  static constexpr std::array<std::string_view, 10> kSystem = {"/",      "/bin", "/etc",  "/lib", "/lib32",
                                                               "/lib64", "/opt", "/sbin", "/usr", "/var"};
  const bool allows = rule.verb == policy::Verb::kAllowRead || rule.verb == policy::Verb::kAllowWrite;
  return allows && std::ranges::find(kSystem, rule.path) == kSystem.end();
}

namespace {

MountTree TreePlanner::run() {
  collect_nodes();
  judge_nodes();
  find_private_home();
  pin_ancestors();
  link_children();
  input_.image == nullptr ? place_root() : place_image();
  bound_tmpfs(tree_.steps, small_, spacious_, tmpfs_bytes_max(input_.facts, input_.limits));
  tree_.has_typed_cwd = std::ranges::all_of(input_.typed_cwd.links, [&](const auto& link) { return has_link(link); });
  return std::move(tree_);
}

// Nothing in it can be written, so that nothing has to be pinned.
MountTree TreePlanner::run_cover(const std::string& path) {
  collect_nodes();
  add_node(path);
  judge_nodes();
  link_children();
  place_hidden(found_.find(path)->second, Ground::kHostReadOnly);
  return std::move(tree_);
}

void TreePlanner::collect_nodes() {
  add_node("/");
  for (const RootEntry& entry : input_.facts.root) {
    if (input_.image != nullptr) break;
    const bool shown = entry.type != FileType::kSymlink && entry.type != FileType::kOther &&
                       entry.name != "lost+found" && "/" + entry.name != kTrustDirectory &&
                       !is_of_shares(input_.shares, entry.name);
    if (shown) add_node("/" + entry.name);
  }
  if (input_.facts.home != "/nonexistent") add_node(input_.facts.home);
  for (const Rule& rule : input_.rules) is_held_by_name(rule, input_.supervision) ? void() : add_node(rule.path);
}

void TreePlanner::add_node(const std::string& path) {
  const auto [at, inserted] = found_.try_emplace(path);
  if (!inserted) return;
  at->second.path = path;
  const SeenPath* seen = input_.paths.find(path);
  if (seen != nullptr) at->second.type = seen->type;
}

// One pass over nodes and rules in path order; the rules that cover the node at hand are on a stack.
void TreePlanner::judge_nodes() {
  const std::vector<const Rule*> rules = in_path_order(input_.rules);
  std::vector<const Rule*> covering;
  std::size_t next = 0;
  const PathOrder before;
  for (auto& [path, node] : found_) {
    const auto ends = [&](const Rule* rule) { return !is_within(path, rule->path); };
    std::erase_if(covering, ends);
    while (next < rules.size() && !before(path, rules[next]->path)) {
      if (is_within(path, rules[next]->path)) covering.push_back(rules[next]);
      ++next;
    }
    const policy::Judgement judgement = policy::judge(covering);
    node.view = judgement.view;
    node.is_place = judgement.read_rule != nullptr && judgement.read_rule->path == path;
    const auto shows = [](const Rule* rule) { return shows_host(*rule); };
    node.of_image = input_.image != nullptr && !is_own_place(path) && std::ranges::none_of(covering, shows);
  }
}

// Programs keep files in many places of a home, so a hidden home is private and writable as a whole. A sandbox with
// shares has its home among the shares.
void TreePlanner::find_private_home() {
  const auto found = found_.find(input_.facts.home);
  if (input_.image != nullptr || !input_.shares.empty() || found == found_.end()) return;
  if (found->second.view != View::kHidden) return;
  private_home_ = &found->second;
  const std::string above = closed_above(input_.project, private_home_->path);
  if (above.empty()) return;
  const bool is_known = found_.contains(above);
  add_node(above);
  Node& node = found_.find(above)->second;
  if (is_known && node.view != View::kHidden) return;
  node.view = View::kHidden;
  closed_ = &node;
}

// A denied name in a writable tree is as safe as the directories above it: each is bound on itself, because a mount
// point can be neither renamed nor removed (EBUSY) from inside.
void TreePlanner::pin_ancestors() {
  std::vector<std::string> denied;
  std::vector<const Node*> above;
  for (const auto& [path, node] : found_) {
    while (!above.empty() && !is_within(path, above.back()->path)) above.pop_back();
    const bool writable_above = !above.empty() && above.back()->view == View::kReadWrite;
    if (node.of_image) continue;
    if (writable_above && node.view != View::kReadWrite && node.type != FileType::kAbsent) denied.push_back(path);
    above.push_back(&node);
  }
  for (const std::string& path : denied) add_pins_above(path);
}

void TreePlanner::add_pins_above(const std::string& path) {
  for (std::string directory(parent_of(path)); directory != "/"; directory = parent_of(directory)) {
    const auto known = found_.find(directory);
    if (known != found_.end() && (known->second.pin == Pin::kYes || known->second.view != View::kReadWrite)) return;
    // Where the directory above is not writable, or is "/", this one is a mount of its own already.
    if (parent_of(directory) == "/" || view_above(directory) != View::kReadWrite) return;
    add_node(directory);
    Node& node = found_.find(directory)->second;
    node.view = View::kReadWrite;
    node.pin = Pin::kYes;
  }
}

const Node& TreePlanner::node_above(std::string_view path) const {
  for (std::string_view at = parent_of(path);; at = parent_of(at)) {
    const auto known = found_.find(at);
    if (known != found_.end()) return known->second;
  }
}

void TreePlanner::link_children() {
  std::vector<Node*> above;
  for (auto& [path, node] : found_) {
    while (!above.empty() && !is_within(path, above.back()->path)) above.pop_back();
    if (!above.empty()) above.back()->children.push_back(&node);
    above.push_back(&node);
  }
}

void TreePlanner::place_root() {
  static constexpr std::uint64_t kRootBytes = 1 << 20;
  static constexpr std::uint64_t kRootWithTrustBytes = kRootBytes + 3 * limits::kTrustBytesMax;
  const bool with_trust = input_.trust.opening == TlsOpening::kSome;
  tree_.steps.push_back(
      {.kind = MountKind::kTmpfs,
       .target = "/",
       .mode = 0755,
       .size_bytes = (with_trust ? kRootWithTrustBytes : kRootBytes) + bytes_of(input_.covered_files)});
  made_.insert("/");
  for (const RootEntry& entry : input_.facts.root) {
    const bool placed = found_.contains("/" + entry.name);
    if (entry.type != FileType::kSymlink || placed || is_of_shares(input_.shares, entry.name)) continue;
    tree_.steps.push_back({.kind = MountKind::kSymlink, .target = "/" + entry.name, .source = entry.link});
  }
  place_children(found_.begin()->second, Ground::kOwn);
  if (with_trust) place_trust();
  place_shares();
  seal("/");
}

// The image, the kernel's file systems and the private places over it, and what of the host a rule names for itself.
// "/" stays writable: what is changed there lies in the layer.
void TreePlanner::place_image() {
  const bool is_given = input_.image->use == ImageInput::Use::kInstall;
  tree_.steps.push_back({.kind = is_given       ? MountKind::kGivenRoot
                                 : has_engine() ? MountKind::kEngineRoot
                                                : MountKind::kImage,
                         .target = "/",
                         .source = input_.image->root,
                         .identity = input_.image->identity,
                         .size_bytes = input_.limits.tmp_bytes,
                         .layer = input_.image->layer});
  if (tree_.steps.front().kind == MountKind::kImage && input_.image->layer.empty()) spacious_.push_back(0);
  made_.insert("/");
  tree_.writable.emplace_back("/");
  place_account();
  place_children(found_.begin()->second, Ground::kOwn);
  if (input_.trust.opening == TlsOpening::kSome) {
    mount_tmpfs(std::string(kTrustDirectory), 0755, 3 * limits::kTrustBytesMax, MakeTarget::kDirectory);
    for (const std::string_view path : {kAuthorityFile, kBundleFile}) {
      tree_.steps.push_back({.kind = MountKind::kFile, .target = std::string(path), .mode = 0444});
    }
    seal(std::string(kTrustDirectory));
  }
  place_shares();
}

void TreePlanner::place_account() {
  const ImageInput& image = *input_.image;
  if (!image.account.empty()) add_account(tree_.steps, image.account, image.ids.user, image.ids.group, image.home);
}

// The image has it, or has not; of the host nothing is there. A home is made all the same: programs expect one, and of
// the host's that a rule hides somebody may be asked.
void TreePlanner::place_in_image(const Node& node) {
  const auto is_home = [&](const Share& share) { return share.target == node.path; };
  if (node.path == input_.facts.home && std::ranges::none_of(input_.shares, is_home)) {
    make_parents(node.path);
    mount_spacious(node.path, 0700, MakeTarget::kDirectory);
    if (node.view == View::kHidden) tree_.hidden.push_back(node.path);
  }
  place_children(node, Ground::kOwn);
}

void TreePlanner::place_shares() {
  for (const Share& share : input_.shares) {
    make_parents(share.target);
    if (share.source.empty()) {
      mount_spacious(share.target, 0755, MakeTarget::kDirectory);
      tree_.writable.push_back(share.target);
      continue;
    }
    made_.insert(share.target);
    tree_.steps.push_back({.kind = MountKind::kBind,
                           .target = share.target,
                           .source = share.source,
                           .access = share.access,
                           .make = share.kind,
                           .identity = share.identity});
    if (share.access == Access::kReadWrite) tree_.writable.push_back(share.target);
  }
  for (const CoveredFile& file : input_.covered_files) place_covered(file);
}

// A name in a private directory does not exist until the plan makes it: the host's file is not there.
void TreePlanner::place_covered(const CoveredFile& file) {
  MountStep made{.kind = MountKind::kFile, .target = file.target, .source = file.content, .mode = 0444};
  switch (shown_at(input_, file.target)) {
    case Shown::kNothing: return;
    case Shown::kPrivate: make_parents(file.target); return tree_.steps.push_back(std::move(made));
    case Shown::kHosts: break;
  }
  make_directory(std::string(kTrustDirectory), 0755);
  made.target = cat({kTrustDirectory, "/", file.name});
  MountStep cover{.kind = MountKind::kCover, .target = file.target, .source = made.target};
  // A program that opens the host's pipe would wait for the other end. A regular file can be replaced at any time.
  const SeenPath* seen = input_.paths.find(file.target);
  if (seen->type == FileType::kOther) cover.identity = seen->identity;
  tree_.steps.push_back(std::move(made));
  tree_.steps.push_back(std::move(cover));
}

// What the files hold is known once the sandbox starts. A store that is hidden, or is not the host's, stays as it is.
void TreePlanner::place_trust() {
  make_directory(std::string(kTrustDirectory), 0755);
  for (const std::string_view path : {kAuthorityFile, kBundleFile}) {
    tree_.steps.push_back({.kind = MountKind::kFile, .target = std::string(path), .mode = 0444});
  }
  for (const std::string& store : input_.trust.stores) cover(store, std::string(kBundleFile));
  if (input_.trust.java_stores.empty()) return;
  tree_.steps.push_back({.kind = MountKind::kFile, .target = std::string(kJavaFile), .mode = 0444});
  for (const std::string& store : input_.trust.java_stores) cover(store, std::string(kJavaFile));
}

void TreePlanner::cover(const std::string& target, std::string file) {
  const SeenPath* seen = input_.paths.find(target);
  if (shown_at(input_, target) != Shown::kHosts || seen->type != FileType::kFile) return;
  tree_.steps.push_back(
      {.kind = MountKind::kCover, .target = target, .source = std::move(file), .identity = seen->identity});
}

void TreePlanner::place_children(const Node& node, Ground ground) {
  for (const Node* child : node.children) place(*child, ground);
}

void TreePlanner::place(const Node& node, Ground ground) {
  if (node.of_image) return place_in_image(node);
  switch (node.view) {
    case View::kReadOnly:
    case View::kReadWrite: return place_host(node, ground);
    case View::kHidden: return place_hidden(node, ground);
    case View::kPrivate: return node.is_place ? place_private(node, ground) : place_in_private(node, ground);
    case View::kProc: return node.is_place ? place_proc(node) : void();
    case View::kSys: return node.is_place ? place_sys(node) : void();
    case View::kDevices: return node.is_place ? place_devices(node) : void();
  }
}

void TreePlanner::place_host(const Node& node, Ground ground) {
  if (node.type == FileType::kAbsent) return;
  if (node.type == FileType::kSymlink) {
    if (ground != Ground::kOwn) return;
    make_parents(node.path);
    const SeenPath* seen = input_.paths.find(node.path);
    tree_.steps.push_back({.kind = MountKind::kSymlink, .target = node.path, .source = seen->link});
    return;
  }
  const bool writable = node.view == View::kReadWrite;
  const Ground here = writable ? Ground::kHostReadWrite : Ground::kHostReadOnly;
  const bool new_mount = ground != here || node.pin == Pin::kYes;
  if (new_mount) {
    MakeTarget make = MakeTarget::kNothing;
    if (ground == Ground::kOwn) {
      make_parents(node.path);
      make = node.type == FileType::kDirectory ? MakeTarget::kDirectory : MakeTarget::kFile;
    }
    bind(node, writable ? Access::kReadWrite : Access::kReadOnly, make);
  }
  place_children(node, here);
}

void TreePlanner::place_hidden(const Node& node, Ground ground) {
  tree_.hidden.push_back(node.path);
  if (&node == private_home_) return place_private_home(node, ground);
  if (&node == closed_) return place_closed(node);
  if (node.type == FileType::kAbsent && ground != Ground::kOwn) return;
  if (ground == Ground::kOwn) {
    // What is not made is not there. Some names are made all the same: programs expect them.
    if (stands_by_itself(node)) {
      make_parents(node.path);
      make_directory(node.path, kHiddenDirectoryMode);
    }
    return place_children(node, Ground::kOwn);
  }
  if (node.type != FileType::kDirectory) {
    tree_.steps.push_back({.kind = MountKind::kHideFile, .target = node.path, .identity = identity_of(node)});
    return;
  }
  mount_tmpfs(node.path, kHiddenDirectoryMode, limits::kPrivateDirBytes, MakeTarget::kNothing);
  tree_.steps.back().identity = identity_of(node);
  place_children(node, Ground::kOwn);
  seal(node.path);
}

void TreePlanner::place_private_home(const Node& node, Ground ground) {
  const bool covers = ground != Ground::kOwn;
  if (!covers) make_parents(node.path);
  mount_spacious(node.path, kPrivateMode, covers ? MakeTarget::kNothing : MakeTarget::kDirectory);
  if (covers) tree_.steps.back().identity = identity_of(node);
  tree_.writable.push_back(node.path);
  place_children(node, Ground::kOwn);
  for (const HomeFile& file : input_.home_files) place_in_home(cat({node.path, "/", file.name}), file.content);
  place_links(node);
}

void TreePlanner::place_in_home(const std::string& path, const std::string& content) {
  const auto is_about_reading = [&](const policy::Rule& rule) {
    const bool reads = rule.verb == policy::Verb::kAllowRead || rule.verb == policy::Verb::kDenyRead;
    return reads && is_within(path, rule.path) && rule.path != private_home_->path &&
           is_within(rule.path, private_home_->path);
  };
  const auto is_placed = [&](const MountStep& step) { return is_within(step.target, path); };
  if (std::ranges::any_of(input_.rules, is_about_reading) || std::ranges::any_of(tree_.steps, is_placed)) return;
  make_parents(path);
  tree_.steps.push_back({.kind = MountKind::kFile, .target = path, .source = content, .mode = 0644});
}

void TreePlanner::place_closed(const Node& node) {
  mount_tmpfs(node.path, kHiddenDirectoryMode, limits::kPrivateDirBytes, MakeTarget::kDirectory);
  place_children(node, Ground::kOwn);
  place_links(node);
  seal(node.path);
}

// In a place of the sandbox's own the links of the typed path are made anew.
void TreePlanner::place_links(const Node& node) {
  for (const PathLink& link : input_.typed_cwd.links) {
    const auto is_there = [&](const MountStep& step) { return is_within(step.target, link.path); };
    if (found_.contains(link.path) || &node_above(link.path) != &node) continue;
    if (std::ranges::any_of(tree_.steps, is_there)) continue;
    make_parents(link.path);
    tree_.steps.push_back({.kind = MountKind::kSymlink, .target = link.path, .source = link.text});
  }
}

bool TreePlanner::has_link(const PathLink& link) const {
  const auto is_it = [&](const auto& step) { return step.kind == MountKind::kSymlink && step.target == link.path; };
  if (std::ranges::any_of(tree_.steps, is_it)) return true;
  if (input_.image != nullptr || found_.contains(link.path)) return false;
  return view_above(link.path) == View::kReadOnly || view_above(link.path) == View::kReadWrite;
}

void TreePlanner::place_private(const Node& node, Ground ground) {
  if (ground != Ground::kOwn && node.type != FileType::kDirectory) return;
  if (ground == Ground::kOwn && is_in_private_home(node.path)) {
    make_parents(node.path);
    make_directory(node.path, kPrivateMode);
    tree_.writable.push_back(node.path);
    place_children(node, Ground::kOwn);
    return place_links(node);
  }
  MakeTarget make = MakeTarget::kNothing;
  if (ground == Ground::kOwn) {
    make_parents(node.path);
    make = MakeTarget::kDirectory;
  }
  const bool shared = node.path == "/tmp";
  const bool runtime = node.path == "/run";
  if (runtime) {
    small_.push_back(tree_.steps.size());
    mount_tmpfs(node.path, 0755, limits::kPrivateDirBytes, make);
  } else {
    mount_spacious(node.path, shared ? 01777 : kPrivateMode, make);
  }
  tree_.writable.push_back(node.path);
  if (runtime) {
    const std::uint32_t inside = input_.image == nullptr ? input_.facts.uid : input_.image->ids.user;
    make_directory("/run/user", 0755);
    make_directory(cat({"/run/user/", std::to_string(inside)}), 0700);
  }
  place_children(node, Ground::kOwn);
  place_links(node);
}

// A home below /tmp: programs expect that there is one.
void TreePlanner::place_in_private(const Node& node, Ground ground) {
  if (ground == Ground::kOwn && node.path == input_.facts.home) {
    make_parents(node.path);
    make_directory(node.path, 0700);
  }
  place_children(node, ground);
}

void TreePlanner::place_proc(const Node& node) {
  if (has_engine()) return;
  tree_.steps.push_back({.kind = MountKind::kProc, .target = node.path, .make = MakeTarget::kDirectory});
}

// Of /sys the number of CPUs and NUMA nodes, which run-times read; the rest names hardware and takes settings.
void TreePlanner::place_sys(const Node& node) {
  static constexpr std::string_view kShown = "/sys/devices/system";
  if (has_engine()) return;
  if (input_.image == nullptr) {
    make_directory(node.path, 0755);
  } else {
    mount_tmpfs(node.path, 0755, limits::kPrivateDirBytes, MakeTarget::kDirectory);
  }
  const SeenPath* seen = input_.paths.find(kShown);
  if (seen == nullptr || seen->type != FileType::kDirectory) return;
  make_directory("/sys/devices", 0755);
  tree_.steps.push_back({.kind = MountKind::kBind,
                         .target = std::string(kShown),
                         .source = std::string(kShown),
                         .access = Access::kReadOnly,
                         .make = MakeTarget::kDirectory,
                         .identity = seen->identity});
  if (input_.image != nullptr) seal(node.path);
}

void TreePlanner::place_devices(const Node& node) {
  if (!has_engine()) {
    tree_.steps.push_back({.kind = MountKind::kDevices, .target = node.path, .make = MakeTarget::kDirectory});
  }
  mount_spacious("/dev/shm", 01777, MakeTarget::kNothing);
  tree_.writable.emplace_back("/dev/shm");
  if (!has_engine()) seal(node.path);
}

// Directories of the plan's own tmpfs, from the first that is missing.
void TreePlanner::make_parents(std::string_view path) {
  std::vector<std::string> missing;
  for (std::string_view at = parent_of(path); !made_.contains(at); at = parent_of(at)) missing.emplace_back(at);
  std::ranges::reverse(missing);
  for (const std::string& directory : missing) {
    const bool hidden = input_.image == nullptr && view_above(directory) == View::kHidden;
    make_directory(directory, is_in_private_home(directory) ? kPrivateMode : hidden ? kHiddenDirectoryMode : 0755);
  }
}

void TreePlanner::make_directory(const std::string& path, unsigned mode) {
  if (!made_.insert(path).second) return;
  tree_.steps.push_back({.kind = MountKind::kDirectory, .target = path, .mode = mode});
}

void TreePlanner::bind(const Node& node, Access access, MakeTarget make) {
  tree_.steps.push_back({.kind = MountKind::kBind,
                         .target = node.path,
                         .source = node.path,
                         .access = access,
                         .make = make,
                         .identity = identity_of(node)});
  if (access == Access::kReadWrite && node.pin == Pin::kNo) tree_.writable.push_back(node.path);
}

void TreePlanner::mount_tmpfs(const std::string& path, unsigned mode, std::uint64_t size_bytes, MakeTarget make) {
  tree_.steps.push_back(
      {.kind = MountKind::kTmpfs, .target = path, .make = make, .mode = mode, .size_bytes = size_bytes});
  made_.insert(path);
}

void TreePlanner::mount_spacious(const std::string& path, unsigned mode, MakeTarget make) {
  spacious_.push_back(tree_.steps.size());
  mount_tmpfs(path, mode, input_.limits.tmp_bytes, make);
}

void TreePlanner::seal(const std::string& path) { tree_.steps.push_back({.kind = MountKind::kSeal, .target = path}); }

Identity TreePlanner::identity_of(const Node& node) const {
  const SeenPath* seen = input_.paths.find(node.path);
  return seen == nullptr ? Identity{} : seen->identity;
}

// A name directly below "/", and the user's own home.
bool TreePlanner::stands_by_itself(const Node& node) const {
  if (node.path == input_.facts.home) return true;
  return node.type == FileType::kDirectory && parent_of(node.path) == "/";
}

bool TreePlanner::is_in_private_home(std::string_view path) const {
  if (private_home_ == nullptr || !is_within(path, private_home_->path)) return false;
  return closed_ == nullptr || !is_within(path, closed_->path);
}

}  // namespace

}  // namespace hutch::plan
