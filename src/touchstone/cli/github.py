"""The comment on a pull request, written by a job of GitHub Actions."""

from __future__ import annotations

import http.client
import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WITHIN_S = 20.0
_PAGE = 100
_PAGES = 30
"""GitHub gives the oldest comments first; one of 3,000 is found."""
_WRITERS = ("OWNER", "MEMBER", "COLLABORATOR")


class NoCommentError(Exception):
    """The reason why no comment was written."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, because they could send the token to another host."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


@dataclass(frozen=True)
class PullRequest:
    """A pull request of a repository, whose comments can be read and written."""

    api: str
    """The URL of the API without a slash at its end."""
    repository: str
    number: int
    token: str

    @classmethod
    def of_job(cls, env: Mapping[str, str]) -> PullRequest:
        """The pull request that the job is about. Raises NoCommentError."""
        token = env.get("GITHUB_TOKEN", "")
        repository, api = env.get("GITHUB_REPOSITORY", ""), env.get("GITHUB_API_URL", "https://api.github.com")
        if not token:
            raise NoCommentError("GITHUB_TOKEN is not set")
        if not re.fullmatch(r"[A-Za-z0-9][\w-]*/(?!\.\.?$)[\w.-]+", repository):
            raise NoCommentError("GITHUB_REPOSITORY does not name a repository as OWNER/NAME")
        if not re.match(r"https?://", api):
            raise NoCommentError(f"GITHUB_API_URL is {api}, without http:// or https://")
        found = cls(api.rstrip("/"), repository, 0, token)
        number = _number_in(env.get("GITHUB_EVENT_PATH", "")) or found._number_of(env.get("GITHUB_SHA", ""))
        return cls(found.api, repository, number, token)

    def comment(self, mark: str) -> dict[str, Any] | None:
        """The earliest comment that begins with the mark and whose author may write to the repository.

        Anybody may comment on a public pull request, and could otherwise have the result in a comment of their own.
        Raises NoCommentError.
        """
        for page in range(1, _PAGES + 1):
            comments = self._call("GET", f"issues/{self.number}/comments?per_page={_PAGE}&page={page}")
            for one in comments:
                bot = (one.get("user") or {}).get("type") == "Bot"
                if str(one.get("body") or "").startswith(mark) and (bot or one.get("author_association") in _WRITERS):
                    return dict(one)
            if len(comments) < _PAGE:
                return None
        return None

    def write(self, text: str, earlier: dict[str, Any] | None) -> str:
        """Replace the earlier comment, or add one; returns where it is. Raises NoCommentError."""
        if earlier is not None:
            made = self._call("PATCH", f"issues/comments/{int(earlier['id'])}", {"body": text})
        else:
            made = self._call("POST", f"issues/{self.number}/comments", {"body": text})
        return str(made.get("html_url") or f"{self.repository}#{self.number}")

    def _number_of(self, commit: str) -> int:
        if not re.fullmatch(r"[0-9a-f]{40,64}", commit):
            raise NoCommentError("the job is not about a pull request")
        pulls = self._call("GET", f"commits/{commit}/pulls")
        number = next((one["number"] for one in pulls if one.get("state") == "open"), None)
        if number is None:
            raise NoCommentError(f"no open pull request has the commit {commit[:10]}")
        return int(number)

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        """The response: a list of objects to GET, else one object."""
        request = urllib.request.Request(
            f"{self.api}/repos/{self.repository}/{path}",
            None if body is None else json.dumps(body).encode(),
            {
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "User-Agent": "touchstone",
                "X-GitHub-Api-Version": "2022-11-28",
            },
            method=method,
        )
        where = f"{method} {path.partition('?')[0]}"
        try:
            with urllib.request.build_opener(_NoRedirects).open(request, timeout=_WITHIN_S) as response:
                found = json.load(response)
        except urllib.error.HTTPError as error:
            needed = ": the token needs `pull-requests: write`" if error.code in (401, 403, 404) else ""
            raise NoCommentError(f"GitHub answers {where} with status {error.code}{needed}") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise NoCommentError(f"{where} failed: {error}") from error
        objects = found if method == "GET" else [found]
        if not isinstance(objects, list) or not all(isinstance(one, dict) for one in objects):
            raise NoCommentError(f"{where} failed: the response is none of GitHub's API")
        return found


def _number_in(event: str) -> int | None:
    """The number of the pull request in the file of a job's event, if any."""
    try:
        found = json.loads(Path(event).read_text(encoding="utf-8")) if event else {}
        number = (found.get("pull_request") or {}).get("number")
    except (OSError, ValueError, AttributeError):
        return None
    return number if isinstance(number, int) else None
