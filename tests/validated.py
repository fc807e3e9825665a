"""rocrate-validator without a network, for an environment of its own: ``FOLDER PROFILE CONTEXT``.

Prints what the crate in the folder lacks of that profile. CONTEXT is a file with the JSON-LD
context of RO-Crate 1.3, in which the terms used here are those of 1.1.
"""

import io
import json
import sys
from pathlib import Path
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter

TERMS = "https://w3id.org/ro/terms/workflow-run"
CONTEXTS: dict[str | None, Any] = {f"{TERMS}/context": {"md5": f"{TERMS}#md5"}}


class Answers(HTTPAdapter):
    """Answers with a context, or that there is none."""

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        found = CONTEXTS.get(request.url)
        body = io.BytesIO(json.dumps({"@context": found}).encode())
        answer = requests.Response()
        answer.url, answer.request = request.url or "", request
        answer.status_code = 404 if found is None else 200
        answer.headers["Content-Type"] = "application/ld+json"
        answer.raw = urllib3.HTTPResponse(body, preload_content=False)
        return answer


def main(folder: str, profile: str, context: str) -> None:
    from rocrate_validator import services  # pyright: ignore[reportMissingImports]

    latest = json.loads(Path(context).read_text("utf-8"))["@context"]
    for version in ("1.1", "1.3"):
        CONTEXTS[f"https://w3id.org/ro/crate/{version}/context"] = latest
    HTTPAdapter.send = Answers.send  # pyright: ignore[reportAttributeAccessIssue]
    asked = {"rocrate_uri": folder, "profile_identifier": profile, "no_cache": True}
    result = services.validate(asked | {"skip_availability_check": True})
    for issue in result.get_issues():
        print(issue.check.identifier, issue.message, issue.violatingEntity)
    print("valid" if result.passed() else "not valid")


if __name__ == "__main__":
    main(*sys.argv[1:])
