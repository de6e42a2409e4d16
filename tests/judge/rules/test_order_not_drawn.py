from ..sound import fired, sound_run


def test_the_same_order_in_all_rounds() -> None:
    run = sound_run()
    run.plan.orders = [run.plan.orders[0]] * 5
    assert fired(run, "order-not-drawn")


def test_two_contenders_may_keep_their_order_by_chance() -> None:
    run = sound_run(rounds=3, contenders={"go/std": 20_000.0, "rust/std": 26_000.0})
    run.plan.orders = [run.plan.orders[0]] * 3
    assert not fired(run, "order-not-drawn")
