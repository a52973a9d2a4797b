"""Made-up questions to the support of a shop: ten topics in three groups, some customers who write often."""

import csv
from os import PathLike

import numpy as np

TEXT, USER = "message", "customer"  # columns of the file

_TOPICS = {
    "delivery": "parcel delivery courier tracking late arrive address package shipped depot doorstep neighbour",
    "refund": "refund money return returned bank credited amount charged repay reimburse receipt sent",
    "invoice": "invoice vat billing company address copy tax number pdf accounting statement period",
    "password": "password login reset account locked email code sign forgotten link attempts username",
    "app": "app crashes update phone screen freezes version install android button loading closes",
    "damage": "broken damaged scratch cracked replacement defect glass photo warranty box torn dented",
    "subscription": "subscription cancel renew monthly plan trial membership upgrade price ends period yearly",
    "size": "size fits small large exchange shoes jacket measure chart tight length sleeves",
    "voucher": "voucher discount code coupon checkout gift card expired apply balance promotion points",
    "privacy": "data delete privacy newsletter consent unsubscribe stored marketing remove profile request mails",
}
_COMMON = "order ordered bought help question customer yesterday week website since contact number again today please"
_LEADS = ("hello,", "hi,", "", "", "", "please:", "I write because", "thanks,", "urgent:", "sorry,")
_LINKS = ("and", "with the", "but the", "for my", "because the", "about the", "still", "without", "and then the", "not")


def support_questions(n: int = 20_000, random_state: int = 0) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return made-up questions, the topic of each, and the customer who wrote it.

    One customer in twenty writes up to thirty times. Topics are 0 to 9: delivery, refund, invoice, password, app,
    damage, subscription, size, voucher and privacy.

    >>> texts, topics, customers = support_questions(1000)
    >>> len(texts), len(set(topics.tolist())), len(set(customers.tolist())) < 1000
    (1000, 10, True)
    """
    rng = np.random.default_rng(random_state)
    share = np.linspace(1.6, 0.4, len(_TOPICS))
    topics = rng.choice(len(_TOPICS), n, p=share / share.sum())
    words = [each.split() for each in _TOPICS.values()]
    common = _COMMON.split()
    texts = [_text(words[topic], common, rng) for topic in topics]
    return texts, topics, _customers(n, rng)


def _text(own: list[str], common: list[str], rng: np.random.Generator) -> str:
    """Return a question: some words of its topic, some that all use, with small words between."""
    often = 1.0 / np.arange(1, len(own) + 1) ** 0.6
    some = rng.choice(own, size=int(rng.integers(2, 6)), replace=False, p=often / often.sum()).tolist()
    some += rng.choice(common, size=int(rng.integers(1, 5)), replace=False).tolist()
    rng.shuffle(some)
    links = rng.choice(_LINKS, size=len(some))
    body = " ".join(f"{link} {word}" for link, word in zip(links, some, strict=True))
    return f"{rng.choice(_LEADS)} {body}{rng.choice(['.', '?', '!', ''])}".strip()


def _customers(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return who wrote each text: most write once or twice."""
    often = np.where(rng.random(n) < 0.05, rng.integers(5, 31, n), rng.integers(1, 3, n))
    numbers = np.repeat(10_000 + np.arange(n), often)[:n]
    rng.shuffle(numbers)
    return numbers


def write_support_csv(path: str | PathLike[str], n: int = 20_000, random_state: int = 0) -> None:
    """Write made-up questions as a CSV file with the columns customer and message."""
    texts, _, customers = support_questions(n, random_state)
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([USER, TEXT])
        out.writerows(zip(customers.tolist(), texts, strict=True))
