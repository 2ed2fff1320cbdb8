// Images below the data directory: one is there once its directory has its name.
#include "service/image/images.h"

#include <fmt/chrono.h>

#include <chrono>

#include "base/text.h"
#include "host/machine/subordinate_ids.h"
#include "host/state_dirs.h"
#include "service/image/build_stop.h"
#include "service/image/unpacker.h"
#include "store/agents.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"

namespace hutch::service {

namespace {

Result<store::ImageStore> store_of(const plan::HostFacts& facts);
Result<UniqueFd> lock(const store::ImageStore& store, const std::string& name);
Status remove_rests(const store::ImageStore& store, const std::string& name, const plan::IdMap& ids);
Result<UniqueFd> open_archive(const std::string& path);
Result<std::string> make_root(const store::ImageStore& store, const std::string& name);
Status check_unused(const std::string& name, const plan::HostFacts& facts);
std::string image_time();

}  // namespace

Result<store::ImageManifest> import_image(const ImageRequest& request, const plan::HostFacts& facts,
                                          const TellImage& tell) {
  const std::string name = TRY(store::image_name(request.name));
  UniqueFd archive = TRY(open_archive(request.archive));
  const auto begin = [&]() -> Result<UniqueFd> { return std::move(archive); };
  auto made = make_image(name, {begin, [] { return Status(); }}, IfThere::kError, facts, tell);
  if (made || made.error().code == Code::kConflict) return made;
  return fail(std::move(made).error().with_context("import " + name));
}

Result<store::ImageManifest> make_image(const std::string& name, const ArchiveSource& source, IfThere if_there,
                                        const plan::HostFacts& facts, const TellImage& tell, const BuildStop* stop) {
  const auto fill = [&](const ImagePlace& place) -> Result<FilledImage> {
    UniqueFd archive = TRY(source.begin());
    auto unpacked = unpack(archive.get(), place.files, place.ids);
    archive.reset();
    Status ended = source.end();
    if (unpacked && ended) {
      return FilledImage{unpacked->digest, unpacked->entries, unpacked->bytes, unpacked->special, {}};
    }
    if (ended) return fail(std::move(unpacked).error());
    // Either may be why the other failed.
    Error error = std::move(ended).error();
    if (!unpacked) error.message += cat({"\n  of what it wrote: ", unpacked.error().message});
    return fail(std::move(error));
  };
  return fill_image(name, fill, if_there, facts, tell, stop);
}

Result<store::ImageManifest> fill_image(const std::string& name, const FillImage& fill, IfThere if_there,
                                        const plan::HostFacts& facts, const TellImage& tell, const BuildStop* stop) {
  const host::IdFacts ids = TRY(host::probe_ids(facts.uid, facts.gid, facts.user));
  const store::ImageStore store = TRY(store_of(facts));
  TRY(sys::make_private_directories(store.directory()));
  const UniqueFd held =
      TRY(if_there == IfThere::kError ? lock(store, name) : wait_for_image(store.lock(name), name, tell, stop));
  if (auto there = TRY(store.find(name))) {
    if (if_there == IfThere::kTaken) return std::move(*there);
    return fail(
        Error{Code::kConflict, 0,
              cat({"image ", name, " is there already; hutch image remove ", name, " makes room for another"})});
  }
  TRY(remove_rests(store, name, ids.map));
  const std::string files = TRY(make_root(store, name));
  auto filled = fill({files, store.scratch(name), ids.map});
  (void)remove_files(store.scratch(name), ids.map);
  if (!filled) {
    (void)remove_rests(store, name, ids.map);
    return fail(std::move(filled).error());
  }
  const store::ImageManifest manifest{
      name, filled->digest, image_time(), filled->entries, filled->bytes, ids.map, std::move(filled->environment)};
  TRY(sys::replace_file(store.part(name) + "/manifest.json", store::manifest_json(manifest)));
  TRY(sys::rename_at(sys::kCwd, store.part(name), sys::kCwd, store.place(name), sys::Replacing::kRefused));
  if (!ids.lack.empty()) {
    tell(cat({"one user only: ", ids.lack,
              ". All its files are yours, and so is what root of a sandbox installs; for users of "
              "its own: ",
              ids.remedy}));
  }
  if (filled->special > 0) tell(cat({std::to_string(filled->special), " devices and the like were left out"}));
  return manifest;
}

Result<UniqueFd> wait_for_image(const std::string& lock, const std::string& name, const TellImage& tell,
                                const BuildStop* stop) {
  static constexpr int kMomentsBetween = 100;
  for (int tries = 0;; ++tries) {
    auto held = TRY(sys::try_lock_file(lock));
    if (held) return std::move(*held);
    if (tries == 0) tell(cat({"image ", name, " is being made already; waiting for it"}));
    if (stop != nullptr && stop->token.stop_requested())
      return fail({Code::kTimeout, 0, cat({"the wait for image ", name, " was cancelled"})});
    for (int i = 0; i < kMomentsBetween; ++i) TRY(sys::pause_briefly());
  }
}

Result<std::vector<store::ImageManifest>> list_images(const plan::HostFacts& facts) {
  const store::ImageStore store = TRY(store_of(facts));
  return store.list();
}

Result<store::ImageManifest> show_image(const std::string& typed, const plan::HostFacts& facts) {
  const std::string name = TRY(store::image_name(typed));
  const store::ImageStore store = TRY(store_of(facts));
  auto manifest = TRY(store.find(name));
  if (!manifest) return fail(no_such_image(name));
  return std::move(*manifest);
}

// It is no image from the moment it has another name.
Status remove_image(const std::string& typed, Removing removing, const plan::HostFacts& facts) {
  const std::string name = TRY(store::image_name(typed));
  const host::IdFacts ids = TRY(host::probe_ids(facts.uid, facts.gid, facts.user));
  const store::ImageStore store = TRY(store_of(facts));
  const UniqueFd held = TRY(lock(store, name));
  TRY(remove_rests(store, name, ids.map));
  if (!TRY(sys::status_of(store.place(name)))) return fail(no_such_image(name));
  if (removing == Removing::kUnused) TRY(check_unused(name, facts));
  TRY(sys::rename_at(sys::kCwd, store.place(name), sys::kCwd, store.rest(name), sys::Replacing::kRefused));
  return remove_rests(store, name, ids.map);
}

Result<plan::ImageInput> image_input(const std::string& typed, const plan::HostFacts& facts) {
  const store::ImageManifest manifest = TRY(show_image(typed, facts));
  const host::IdFacts ids = TRY(host::probe_ids(facts.uid, facts.gid, facts.user));
  if (manifest.ids != ids.map) {
    const std::string why = ids.lack.empty() ? "other ids belong to you by now" : ids.lack;
    return fail(Error{Code::kConflict, 0,
                      cat({"image ", manifest.name, " was imported for other users: ", why, "; hutch image remove ",
                           manifest.name, " and import it again"})});
  }
  const store::ImageStore store = TRY(store_of(facts));
  const std::string files = TRY(sys::canonical_path(store.files(manifest.name)));
  const auto status = TRY(sys::status_of(files));
  if (!status || status->kind != sys::EntryKind::kDirectory) return fail(no_such_image(manifest.name));
  plan::ImageInput input{files, {status->device, status->inode}, {}, manifest.ids};
  input.environment = manifest.environment;
  return input;
}

Error no_such_image(const std::string& name) {
  return Error::not_found(cat({"there is no image ", name, "; hutch image import ", name,
                               " FILE.tar makes it of a root file system, hutch image build ", name,
                               " --recipe FILE of packages, hutch image list lists those that are there"}));
}

namespace {

Result<store::ImageStore> store_of(const plan::HostFacts& facts) {
  return store::ImageStore(TRY(host::own_state_dirs(facts.uid, facts.home)).data);
}

Result<UniqueFd> lock(const store::ImageStore& store, const std::string& name) {
  TRY(sys::make_private_directories(store.directory()));
  auto held = TRY(sys::try_lock_file(store.lock(name)));
  if (held) return std::move(*held);
  return fail(Error{Code::kConflict, 0, cat({"image ", name, " is being made or removed at this moment; try again"})});
}

// What an import or a removal that broke off has left.
Status remove_rests(const store::ImageStore& store, const std::string& name, const plan::IdMap& ids) {
  TRY(remove_files(store.part(name), ids));
  TRY(remove_files(store.scratch(name), ids));
  return remove_files(store.rest(name), ids);
}

Result<UniqueFd> open_archive(const std::string& path) {
  if (path == "-") return sys::duplicate(0);
  UniqueFd file = TRY(sys::open(path, sys::Open::kRead));
  const sys::FileStatus status = TRY(sys::file_status(file.get(), ""));
  if (status.kind != sys::EntryKind::kDirectory) return file;
  return fail(Error::invalid(cat({printable(path), ": is a directory; an image comes as a tar"})));
}

Result<std::string> make_root(const store::ImageStore& store, const std::string& name) {
  const std::string files = store.part(name) + "/root";
  TRY(sys::make_private_directories(files));
  std::string canonical = TRY(sys::canonical_path(files));
  const UniqueFd top = TRY(sys::open(canonical, sys::Open::kReadDirectory));
  // An archive need not say what "/" is; others than its owner have to get through.
  TRY(sys::set_mode(top.get(), 0755));
  return canonical;
}

Status check_unused(const std::string& name, const plan::HostFacts& facts) {
  const host::StateDirs dirs = TRY(host::own_state_dirs(facts.uid, facts.home));
  const auto agents = TRY(store::Agents::open(dirs.data));
  std::vector<std::string> users;
  for (const store::AgentRecord& record : TRY(agents->list())) {
    if (record.image == name) users.push_back(record.name);
  }
  if (users.empty()) return {};
  return fail(Error{Code::kConflict, 0,
                    cat({"image ", name, " is what ", join(users, ", "), users.size() == 1 ? " has" : " have",
                         "; hutch agent remove, or set NAME image=OTHER, first; with --force it is removed, and they "
                         "cannot start"})});
}

std::string image_time() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

}  // namespace

}  // namespace hutch::service
