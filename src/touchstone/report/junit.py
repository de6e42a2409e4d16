"""What is judged of two revisions as JUnit XML: a test case for each figure, as CI systems show them."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from touchstone.judge.comparison.pair import PairJudgement
from touchstone.report.changes import gone_words, row


def document(judged: PairJudgement, *, allow_undecided: bool = False, blocks: bool = True) -> str:
    """The XML. Figures that are worse, gone or undecided are failures.

    They are skipped where the verdict does not block, and undecided ones where `allow_undecided` lets them pass.
    """
    suite = Xml.Element("testsuite", name=f"touchstone {judged.scenario}")
    for change in judged.changes:
        words = row(change)
        case = Xml.SubElement(suite, "testcase", classname=_class(judged, change.load), name=change.figure)
        message = f"{words.figure}: {words.before} before, {words.after} after, {words.ratio}, margin {words.margin}"
        if change.worse:
            _fail(case, "worse", message, blocks=blocks)
        elif not change.harmless:
            _fail(case, "undecided", message, blocks=blocks and not allow_undecided)
        Xml.SubElement(case, "system-out").text = f"{words.outcome}: {message}"
    for one in judged.gone:
        for figure in one.figures:
            case = Xml.SubElement(suite, "testcase", classname=_class(judged, one.load), name=figure)
            _fail(case, "gone", _clean(gone_words(one)), blocks=blocks)
    for failed in judged.failed:
        case = Xml.SubElement(suite, "testcase", classname=_class(judged, None), name=failed.contender)
        error = Xml.SubElement(case, "error", type="failed", message=_clean(failed.reason))
        error.text = _clean("\n".join(failed.details)) or None
    for change in judged.twin.different if judged.twin else ():
        case = Xml.SubElement(suite, "testcase", classname=_class(judged, change.load), name=change.figure)
        Xml.SubElement(case, "error", type="unreliable", message=f"a copy of the base differs: {row(change).ratio}")
    if not len(suite):
        case = Xml.SubElement(suite, "testcase", classname=_class(judged, None), name=judged.contender)
        Xml.SubElement(case, "system-out").text = _clean("\n".join(judged.notes))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    suites = Xml.Element("testsuites")
    suites.append(suite)
    Xml.indent(suites)
    return Xml.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _fail(case: Xml.Element, kind: str, message: str, *, blocks: bool) -> None:
    if blocks:
        Xml.SubElement(case, "failure", type=kind, message=message)
    else:
        Xml.SubElement(case, "skipped", message=f"{kind}: {message}")


def _class(judged: PairJudgement, load: str | None) -> str:
    return ".".join(filter(None, ("touchstone", judged.scenario, load)))


def _clean(text: str) -> str:
    """Without what XML cannot hold: a log may have control characters."""
    return "".join(c for c in text if c in "\t\n" or c >= " ")
