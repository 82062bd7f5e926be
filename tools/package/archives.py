# SPDX-License-Identifier: Apache-2.0
"""Archives of a folder whose bytes depend on names, modes and contents only: sorted, one time, one owner. Hashes."""
import gzip
import hashlib
import os
import tarfile


def mode(path):
    """0755 or 0644: what this machine's umask left does not count."""
    return 0o755 if os.path.isdir(path) or os.access(path, os.X_OK) else 0o644


def sha256(path):
    """Of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def write_tar(out, folder, prefix, epoch):
    """`folder` as `prefix`/… into the gzip-compressed tar archive `out`."""
    paths = [folder]
    for place, folders, names in os.walk(folder):
        paths += [os.path.join(place, name) for name in folders + names]
    with open(out, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=9, mtime=epoch) as zipped, \
            tarfile.open(fileobj=zipped, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(paths):
            name = os.path.normpath(os.path.join(prefix, os.path.relpath(path, folder)))
            entry = archive.gettarinfo(path, arcname=name)
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = epoch, 0, 0, "root", "root"
            entry.mode = mode(path)
            if entry.isfile():
                with open(path, "rb") as file:
                    archive.addfile(entry, file)
            else:
                archive.addfile(entry)
