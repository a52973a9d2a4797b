"""A fit that goes one of two ways plans for the way that touches more, and checks the scales of both."""

from knoll.privacy import Ask, either


def test_the_way_that_touches_more_is_paid_for_and_both_are_checked():
    few, many = Ask(1, 1000, 3, share=0.1, bound=(1.0, 1.0)), Ask(50, 60, 2, share=0.4, bound=(7.0, 2.0))
    for planned in (either([few], [many]), either([many], [few])):
        assert sum(ask.times * ask.touched for ask in planned) == 100
        assert {(ask.share, ask.bound) for ask in planned} == {(few.share, few.bound), (many.share, many.bound)}


def test_a_record_touches_no_more_than_there_is():
    assert [ask.times for ask in either([Ask(100, 10, 1)], [Ask(1, 1, 11)])] == [11, 0]
