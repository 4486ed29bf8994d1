"""Where the case folders of ONNX's backend tests are: Debian's libonnx-testdata, and the archives of ../shared."""
import os
import sys
import tarfile

PACKAGE = "/usr/share/libonnx-testdata/data"
ARCHIVES = ("onnx-node-visible.tar.xz", "diff-visible.tar.xz")


def unpack(archive, target):
    """Unpacks an archive unless that was done since it was last changed."""
    stamp = os.path.join(target, os.path.basename(archive) + ".done")
    if os.path.exists(stamp) and os.path.getmtime(stamp) >= os.path.getmtime(archive):
        return
    os.makedirs(target, exist_ok=True)
    with tarfile.open(archive) as tar:
        for member in tar:
            path = os.path.normpath(member.name)
            if not (member.isreg() or member.isdir()) or os.path.isabs(path) or path.startswith(".."):
                sys.exit("%s: unexpected member %s" % (archive, member.name))
            tar.extract(member, target)
    with open(stamp, "w", encoding="utf-8"):
        pass


def below(top, prefix):
    """-> {name: folder} of every case two levels below top."""
    cases = {}
    if os.path.isdir(top):
        for suite in sorted(os.listdir(top)):
            folder = os.path.join(top, suite)
            for case in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
                if os.path.exists(os.path.join(folder, case, "model.onnx")):
                    cases["%s%s/%s" % (prefix, suite, case)] = os.path.join(folder, case)
    return cases


def arguments(parser):
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take each N-th case only")
    return parser


def find(args):
    """-> ({name: folder}, [archives that are missing]). Archives are unpacked into the build folder once."""
    cases = below(PACKAGE, "debian/")
    if not cases:
        sys.exit("nothing in %s: install libonnx-testdata (utils/install-packages test)" % PACKAGE)
    target = os.path.join(os.path.abspath(args.build), "tests", "conformance-data")
    source = os.path.join(args.shared, "conformance")
    missing = [name for name in ARCHIVES if not os.path.exists(os.path.join(source, name))]
    for name in ARCHIVES:
        if name not in missing:
            unpack(os.path.join(source, name), target)
    if len(missing) < len(ARCHIVES):
        cases.update(below(target, ""))
    return dict(list(cases.items())[::args.every]), [os.path.join(source, name) for name in missing]
