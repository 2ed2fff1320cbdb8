// The file system of a machine's root.
#include "service/vm/root.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "service/common/told_program.h"
#include "service/image/build.h"
#include "service/image/layer_merge.h"
#include "service/image/oci_image.h"
#include "service/image/pull.h"
#include "service/vm/sums.h"
#include "sys/channel.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/process/process.h"
#include "sys/process/threads.h"

namespace hutch::service {

namespace {

constexpr const char* kPacker = "/usr/bin/tar2sqfs";
constexpr const char* kLister = "/usr/bin/rdsquashfs";
constexpr const char* kLayout = "oci-layout";
constexpr std::uint64_t kRootBytesMax = 32ULL << 30;

// An archive's owners and modes are taken as they are: nothing of it is unpacked here.
Status pack_root(int archive, const std::string& path, const TellImage& tell) {
  if (!sys::exists(kPacker)) {
    return fail(
        Error::unsupported("tar2sqfs, which makes the file system of a machine's root, is missing; apt-get "
                           "install squashfs-tools-ng"));
  }
  sys::Pipe words = TRY(sys::pipe());
  auto packing = TRY(sys::spawn(kPacker, {.arguments = {"tar2sqfs", "-q", "-f", "-c", "lz4", path},
                                          .environment = {},
                                          .install = {{archive, 0}, {words.write.get(), 1}, {words.write.get(), 2}}}));
  words.write.reset();
  ToldWords told(tell);
  std::string buffer(4096, '\0');
  for (;;) {
    const auto size = sys::read_some(words.read.get(), buffer);
    if (!size || *size == 0) break;
    told.add(std::string_view(buffer).substr(0, *size));
  }
  told.end();
  const sys::WaitStatus ended = TRY(packing.wait());
  if (ended.exited() && ended.exit_code() == 0) return {};
  return fail({Code::kSystem, 0, cat({"tar2sqfs failed: ", told.last()})});
}

// What is at the top of a file system that was packed.
Result<std::vector<std::string>> names_at_top(const std::string& system) {
  std::vector<std::string> names;
  const auto keep = [&](const std::string& line) { names.push_back(line.substr(line.rfind(' ') + 1)); };
  TRY(run_told(kLister, {"rdsquashfs", "-l", "/", system}, {}, keep));
  return names;
}

// What an archive is of that is none of a root file system: "oci-archive", "docker-archive"; empty where it is one.
std::string image_kind(const std::vector<std::string>& names) {
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  if (has("usr") || has("bin") || has("etc")) return {};
  if (has(kLayout) && has("index.json")) return "oci-archive";
  return has("manifest.json") ? "docker-archive" : "";
}

struct LayerPacking {
  std::string_view magic;
  const char* unpack;
};
constexpr std::array kLayerPackings = {LayerPacking{"\x1f\x8b", "exec gzip -dc"},
                                       LayerPacking{"\x28\xb5\x2f\xfd", "exec zstd -dcq"}};

Status add_all(int from, LayerMerge& merge) {
  std::string buffer(256 << 10, '\0');
  for (;;) {
    const std::size_t size = TRY(sys::read_some(from, buffer));
    if (size == 0) return merge.end_layer();
    TRY(merge.add(std::string_view(buffer).substr(0, size)));
  }
}

Status merge_layer(const std::string& path, LayerMerge& merge) {
  const UniqueFd blob = TRY(sys::open(path, sys::Open::kRead));
  const std::string begin = TRY(sys::read_at(blob.get(), 0, 4));
  const auto* packing =
      std::ranges::find_if(kLayerPackings, [&](const LayerPacking& one) { return begin.starts_with(one.magic); });
  if (packing == kLayerPackings.end()) return add_all(blob.get(), merge);
  const UniqueFd nothing = TRY(sys::open("/dev/null", sys::Open::kWrite));
  sys::Pipe plain = TRY(sys::pipe());
  auto unpacking =
      TRY(sys::spawn("/bin/sh", {.arguments = {"sh", "-c", packing->unpack},
                                 .environment = {"PATH=/usr/bin:/bin"},
                                 .install = {{blob.get(), 0}, {plain.write.get(), 1}, {nothing.get(), 2}}}));
  plain.write.reset();
  Status added = add_all(plain.read.get(), merge);
  plain.read.reset();
  const sys::WaitStatus ended = TRY(unpacking.wait());
  if (!added || (ended.exited() && ended.exit_code() == 0)) return added;
  return fail(Error::invalid(cat({"is not what it says it is packed by (", packing->unpack + 5, ")"})));
}

// The uppermost first.
Status write_layers(const OciManifest& manifest, const std::string& blobs, int to) {
  std::uint64_t written = 0;
  LayerMerge merge([&](std::string_view bytes) -> Status {
    written += bytes.size();
    if (written > kRootBytesMax) {
      return fail(Error::invalid(cat({"the image holds more than ", std::to_string(kRootBytesMax >> 30), " GiB"})));
    }
    return bytes.empty() ? Status() : sys::send_all(to, bytes, {});
  });
  for (auto layer = manifest.layers.rbegin(); layer != manifest.layers.rend(); ++layer) {
    const std::string blob = cat({blobs, "/", layer->digest});
    if (TRY(sum_of_file(blob)) != layer->digest) {
      return fail(Error::invalid(cat({"layer ", layer->digest, " is not what its digest says"})));
    }
    TRY_CTX(merge_layer(blob, merge), cat({"layer ", layer->digest}));
  }
  return merge.end();
}

// A name of its own, since skopeo takes what is behind a ":" in a path for a tag.
Status pack_image(const std::string& kind, const std::string& path, const std::string& into,
                  const plan::HostFacts& facts, const TellImage& tell) {
  const std::string link = cat({into, "/image"});
  const std::string blobs = cat({into, "/blobs"});
  TRY(sys::make_symlink(path, sys::kCwd, link));
  TRY(sys::make_private_directories(blobs));
  tell(cat({"taking the layers of an image (", kind, ")"}));
  const OciManifest manifest = TRY(fetch_image(cat({kind, ":", link}), blobs, into, facts.uid, tell));
  auto [read_end, write_end] = TRY(sys::socket_pair());
  Status written;
  std::thread writing =
      TRY(sys::start_thread([&, to = std::move(write_end)] { written = write_layers(manifest, blobs, to.get()); }));
  Status packed = pack_root(read_end.get(), cat({into, "/system"}), tell);
  read_end.reset();
  writing.join();
  // Why what came to the packer was cut is for the writer to say, unless nobody read it.
  if (!written && (packed || written.error().code == Code::kInvalidArgument)) packed = std::move(written);
  return packed;
}

Status pack_file(const std::string& root, const std::string& into, const plan::HostFacts& facts,
                 const TellImage& tell) {
  const std::string system = cat({into, "/system"});
  const bool is_input = root == "-";
  UniqueFd archive;
  if (!is_input) archive = TRY(sys::open(root, sys::Open::kRead));
  tell("packing the root file system");
  TRY(pack_root(is_input ? 0 : archive.get(), system, tell));
  const std::vector<std::string> names = TRY(names_at_top(system));
  if (names.empty()) return fail(Error::invalid("--root: it holds no file, or is no archive"));
  const std::string kind = image_kind(names);
  if (kind.empty()) return {};
  if (is_input) {
    return fail(
        Error::invalid(cat({"--root -: it is the archive of an image (", kind, "); give the path of its file"})));
  }
  TRY(sys::unlink_at(sys::kCwd, system));
  return pack_image(kind, root, into, facts, tell);
}

}  // namespace

Status make_vm_root(const std::string& root, const std::string& into, const plan::HostFacts& facts,
                    const TellImage& tell) {
  const std::string system = cat({into, "/system"});
  if (root.empty()) {
    return build_default_archive(Signals::kOwn, facts, tell,
                                 [&](int archive) { return pack_root(archive, system, tell); });
  }
  if (root == "-") return pack_file(root, into, facts, tell);
  const auto status = TRY(sys::status_of(root));
  const bool is_directory = status && status->kind == sys::EntryKind::kDirectory;
  if (is_directory && sys::exists(cat({root, "/", kLayout}))) return pack_image("oci", root, into, facts, tell);
  if (is_directory) {
    return fail(Error::invalid(
        cat({"--root ", printable(root), ": is a directory without OCI's layout; tar -C DIR -c . makes an archive"})));
  }
  if (!status || status->kind != sys::EntryKind::kFile) {
    return fail(
        Error::invalid(cat({"--root ", printable(root), ": is no file; - takes what comes by standard input"})));
  }
  return pack_file(root, into, facts, tell);
}

}  // namespace hutch::service
