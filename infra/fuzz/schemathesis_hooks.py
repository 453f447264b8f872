"""What the description cannot say."""

import os

import schemathesis

# What the run stands on: its key, the key's role and its organization.
SPARED = set(filter(None, os.environ.get("FUZZ_SPARED", "").split(",")))
NOBODYS = "019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f"


@schemathesis.hook
def map_case(context, case):
    """
    A cursor is authenticated: only one that was answered is good, so none is made up where all should be right.
    What the run stands on is read, and neither changed nor ended.
    """
    generation = case.meta.generation if case.meta else None
    if generation is not None and generation.mode.is_positive and case.query:
        case.query.pop("cursor", None)
    if case.method.upper() != "GET" and case.path_parameters:
        for name, value in case.path_parameters.items():
            if value in SPARED:
                case.path_parameters[name] = NOBODYS
    return case
