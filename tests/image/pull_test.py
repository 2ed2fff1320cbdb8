# Images of several layers: of a registry, of a directory; what a layer may take away, and what becomes of hostile ones.
import json
import os
import shutil

import pytest

import oci

pytestmark = pytest.mark.skipif(shutil.which("skopeo") is None, reason="no skopeo")


@pytest.fixture
def layer(rootfs):
    """layer("name") begins one (Rootfs); its bytes are what done() gives."""
    def begin(name):
        made = rootfs(f"{name}.tar")
        made.done = lambda: made.close().read_bytes()
        return made
    return begin


@pytest.fixture
def pulled(box, project, as_user):
    """pulled(layers, ...) pulls an image of these as "layered"; gives hutch's answer."""
    def pull(layers, words=("layered",), **more):
        reference = oci.Image(layers, **more).write(project / "layout", as_user)
        return box("image", "pull", reference, *words)
    return pull


def tree(box):
    root = box.images / "layered:latest/root"
    return {os.path.relpath(os.path.join(at, name), root) for at, directories, files in os.walk(root)
            for name in directories + files}


def refused(box, result, *words):
    assert result.code == 125, str(result)
    for word in words:
        assert word in result.errors, str(result)
    assert (box.names(), box.left()) == ([], [])


def test_an_image_of_a_registry_runs(box, small, as_user):
    image = oci.Image([small().close().read_bytes()], environment=["GREETING=hello", "PATH=/opt/tool/bin:/bin"],
                      kind=oci.LAYER + "+gzip", pack=oci.gzipped)
    with oci.registry(image, "team/tool", "1.0") as place:
        config = as_user.home / ".config" / "containers"
        as_user.write(config / "registries.conf", f'[[registry]]\nlocation = "{place}"\ninsecure = true\n')
        try:
            box("image", "pull", f"{place}/team/tool:1.0").ok()
            missing = box("image", "pull", f"{place}/team/tool:2.0", "other")
        finally:
            shutil.rmtree(config)
    assert missing.code == 125 and "skopeo failed" in missing.errors, str(missing)
    assert (box.names(), box.left()) == (["tool:1.0"], ["tool:1.0"])
    shown = json.loads(box("image", "show", "tool:1.0", "--json").ok().text)
    assert shown["digest"] == oci.digest(image.manifest)

    def run(*command, options=()):
        return box.run(*command, options=["--image", "tool:1.0", *options]).ok().text

    assert run("/bin/sys", "cat", "/etc/os-release") == "NAME=small\n"
    # Its configuration's variables are the least of all, but for PATH of the host's.
    assert run("/bin/sys", "env", "GREETING") == "hello\n"
    assert run("/bin/sys", "env", "GREETING", options=["--env", "GREETING=mine"]) == "mine\n"
    assert run("sys", "env", "PATH").strip().endswith("/.local/bin:/opt/tool/bin:/bin")


def test_upper_layers_replace_and_take_away(box, layer, pulled):
    low = layer("low").directory("./a").file("./a/1", b"low").file("./a/2", b"low").directory("./b")
    low.directory("./b/deep").file("./b/deep/x").directory("./c").file("./c/old")
    low.file("./d").link("./e", "a").directory("./f").file("./f/x")
    low.directory("./g").file("./g/x").file("./h").file("./.wh", b"an ordinary name")
    top = layer("top").file("./a/1", b"top").file("./a/.wh.2").file("./.wh.b")
    # The content of ./c goes, but what this layer says of it stays, whichever of them comes first.
    top.directory("./c").file("./c/new").file("./c/.wh..wh..opq").directory("./c/sub").file("./c/sub/new")
    # A directory, a link and a file in the place of another kind.
    top.directory("./d").file("./d/x").directory("./e").file("./e/x").file("./f", b"a file").link("./g", "a")
    top.hard_link("./i", "h").file("./nowhere/.wh.x").file("./.wh.not-there")
    pulled([low.done(), top.done()]).ok()
    assert tree(box) == {"a", "a/1", "c", "c/new", "c/sub", "c/sub/new", "d", "d/x", "e", "e/x", "f", "g", "h", "i",
                         ".wh"}
    root = box.images / "layered:latest/root"
    assert (root / "a/1").read_bytes() == b"top" and (root / "f").read_bytes() == b"a file"
    assert os.readlink(root / "g") == "a" and not (root / "e").is_symlink()
    assert (root / "i").stat().st_ino == (root / "h").stat().st_ino


def test_what_a_layer_holds_itself_stays_in_the_depth(box, layer, pulled):
    low = layer("low").directory("./a").directory("./a/b").file("./a/b/old").file("./a/old")
    top = layer("top").directory("./a").directory("./a/b").file("./a/b/new").file("./a/.wh..wh..opq").file("./.wh.a")
    pulled([low.done(), top.done()]).ok()
    assert tree(box) == {"a", "a/b", "a/b/new"}


def test_a_directory_keeps_what_is_in_it_and_gets_the_upper_mode(box, layer, pulled):
    low = layer("low").directory("./a").file("./a/x")
    top = layer("top").directory("./a", mode=0o700)
    pulled([low.done(), top.done()]).ok()
    assert tree(box) == {"a", "a/x"}
    assert (box.images / "layered:latest/root/a").stat().st_mode & 0o777 == 0o700


def test_a_name_is_needed_where_the_reference_has_none(box, layer, pulled):
    refused(box, pulled([layer("one").file("./x").done()], words=()), "say what it is to be called")


@pytest.mark.parametrize("reference", ["-x", "/a/path", "two words", "", "a\tb", "https://x.example/y"])
def test_a_reference_is_judged(box, reference):
    result = box("image", "pull", "--", reference, "name")
    assert result.code == 125 and (box.names(), box.left()) == ([], []), str(result)


def test_without_skopeo_it_says_what_to_install(box, layer, pulled, base):
    result = box("image", "pull", "dir:/nowhere", "x")
    refused(box, result, "skopeo failed")


# --- attacks ---


@pytest.mark.parametrize("to", ["absolute", "relative"])
def test_nothing_is_written_or_removed_through_a_lower_layers_link(box, layer, pulled, project, as_user, to):
    as_user.write(project / "host" / "kept", "mine")
    leads = {"absolute": str(project / "host"), "relative": "../" * 30 + str(project / "host")[1:]}[to]
    low = layer("low").link("./way", leads).done()
    for name, content in (("./way/kept", b"theirs"), ("./way/.wh.kept", b""), ("./way/.wh..wh..opq", b"")):
        top = layer("top").file(name, content).done()
        result = pulled([low, top])
        assert (project / "host/kept").read_text() == "mine", name
        if result.code == 0:
            # The content of a link is none.
            assert name.endswith(".opq")
            box("image", "remove", "layered").ok()
        else:
            refused(box, result)
        shutil.rmtree(project / "layout")


@pytest.mark.parametrize("name", ["./a/.wh.", "./.wh...", "./.wh..", "./.wh..wh.plnk", "./.wh.x/y", "./../.wh.x",
                                  "./a/../../.wh.x", "./.wh.x/.wh.y"])
def test_a_whiteout_without_a_right_name_is_refused(box, layer, pulled, name):
    refused(box, pulled([layer("low").directory("./a").done(), layer("top").file(name).done()]), "the archive's entry"
            if ".." in name.split("/")[1:-1] else "layer")


@pytest.mark.parametrize("which", ["layer", "config"])
def test_bytes_that_are_not_what_the_digest_says(box, layer, project, as_user, which):
    image = oci.Image([layer("one").file("./x", b"right").done()])
    other = layer("two").file("./x", b"wrong").done() if which == "layer" else b'{"config": {"Env": ["A=b"]}}'
    victim = (image.layers[0] if which == "layer" else image.config)["digest"]
    reference = image.write_blobs(project / "blobs", as_user, blobs={victim: other})
    refused(box, box("image", "pull", reference, "layered"))


@pytest.mark.parametrize("change,said", [
    ({"layers": []}, "layers"),
    ({"layers": "x"}, "layers"),
    ({"layers": [{"mediaType": oci.LAYER, "digest": "sha256:../../../../etc/passwd", "size": 1}]}, ""),
    ({"layers": [{"mediaType": oci.LAYER, "digest": "sha512:" + "a" * 128, "size": 1}]}, ""),
    ({"layers": [{"mediaType": "text/plain", "digest": "sha256:" + "a" * 64, "size": 1}]}, ""),
    ({"config": None}, ""),
])
def test_a_manifest_is_judged(box, layer, project, as_user, change, said):
    image = oci.Image([layer("one").file("./x").done()])
    manifest = json.dumps({**json.loads(image.manifest), **change}).encode()
    reference = image.write_blobs(project / "blobs", as_user, manifest=manifest)
    refused(box, box("image", "pull", reference, "layered"), said)
