# SPDX-License-Identifier: Apache-2.0
"""The software bill of materials of a release: SPDX 2.3 as JSON (https://spdx.github.io/spdx-spec/v2.3/)."""
import hashlib
import json
import re
import time
import urllib.parse

import notices
from wheel import CUPTI

ROOT = "SPDXRef-rangefinder"
#: Used from the system that a package is installed on.
SHARED = {"glibc": "LGPL-2.1-or-later", "libgcc_s": "GPL-3.0-or-later WITH GCC-exception-3.1"}


def _id(name):
    return "SPDXRef-" + "".join(letter if letter.isalnum() else "-" for letter in name)


def _package(name, version, licence, homepage="NOASSERTION", declared=None):
    return {"SPDXID": _id(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "homepage": homepage, "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": declared or licence, "copyrightText": "NOASSERTION", "supplier": "NOASSERTION"}


def _purl(entry, version):
    """Package URL of a component; None: it has none."""
    quoted = urllib.parse.quote(version, safe=".")
    if "npm" in entry:
        return f"pkg:npm/{entry['npm'].replace('@', '%40')}@{quoted}"
    if "source" in entry:
        return f"pkg:deb/debian/{entry['source']}@{quoted}?arch=source"
    if "debian" in entry and "*" not in entry["debian"]:
        return f"pkg:deb/debian/{entry['debian']}@{quoted}"
    return None


def _texts(packages):
    """The texts of licences without an SPDX identifier."""
    names = {name for package in packages for name in re.findall(r"LicenseRef-([\w.-]+)", package["licenseConcluded"])}
    return [{"licenseId": f"LicenseRef-{name}", "extractedText": notices.licence_text(f"{name}.txt")}
            for name in sorted(names)]


def _relation(entry):
    """Of a component: to the component that contains it, or to Rangefinder."""
    if "inside" in entry:
        return _id(entry["inside"]), "CONTAINS", _id(entry["name"])
    return ROOT, "STATIC_LINK" if "statically" in entry["use"] else "CONTAINS", _id(entry["name"])


def sbom(version, versions, files, epoch):
    """The document, with a line break at its end.

    `versions`: component to version; `files`: (name, SHA-256 in hexadecimal) of the packages; `epoch`: seconds since
    1970. The namespace depends on the contents, so equal documents are equal in every byte.
    """
    packages = [_package("rangefinder", version, "Apache-2.0")]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", ROOT)]
    for entry in notices.components():
        if not entry.get("packaged", True):
            continue
        package = _package(entry["name"], versions[entry["name"]], entry["licence"], entry["homepage"],
                           entry.get("declared"))
        purl = _purl(entry, versions[entry["name"]])
        if purl:
            package["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                        "referenceLocator": purl}]
        packages.append(package)
        relations.append(_relation(entry))
    for name, licence in SHARED.items():
        packages.append(_package(name, "NOASSERTION", licence))
        relations.append((ROOT, "DYNAMIC_LINK", _id(name)))
    cupti = _package("nvidia-cuda-cupti", CUPTI.removeprefix("nvidia-cuda-cupti"), "NOASSERTION")
    packages.append(cupti)
    relations.append((ROOT, "HAS_PREREQUISITE", cupti["SPDXID"]))
    listed = [{"SPDXID": _id(f"file-{name}"), "fileName": f"./{name}",
               "checksums": [{"algorithm": "SHA256", "checksumValue": digest}], "licenseConcluded": "NOASSERTION",
               "copyrightText": "NOASSERTION"} for name, digest in files]
    relations += [(file["SPDXID"], "GENERATED_FROM", ROOT) for file in listed]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"rangefinder-{version}", "documentNamespace": "",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
                         "creators": ["Tool: rangefinder-tools-package"]},
        "packages": packages, "files": listed, "hasExtractedLicensingInfos": _texts(packages),
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relations],
    }
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["documentNamespace"] = f"https://spdx.org/spdxdocs/rangefinder-{version}-{digest[:32]}"
    return json.dumps(document, indent=1) + "\n"
