from ..sound import fired, loads, sound_run


def test_two_contenders_of_one_program() -> None:
    run = sound_run()
    for sample in loads(run):
        sample.process.artifacts = {"server": "c" * 64 if sample.contender != "go/std" else "d" * 64}
        sample.process.env["PORT"] = str(len(sample.id))
    (finding,) = fired(run, "same-program")
    assert "go/std" not in finding.statement
    assert "rust/std" in finding.statement


def test_other_arguments_make_another_contender() -> None:
    run = sound_run()
    for sample in loads(run):
        sample.process.artifacts = {"server": "c" * 64}
        sample.process.argv = ["./server", f"--{sample.contender.partition('/')[0]}"]
    assert not fired(run, "same-program")
