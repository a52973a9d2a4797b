"""
A private topic map of support questions
========================================

A shop wants to know what its customers ask about. The questions are private, some customers write often, and a few
write things that nobody else does. `TopicMap` shows topics, their sizes and their words; it shows no text, and no word
that one customer alone writes.
"""

import knoll

# %%
# Twenty thousand questions, made up. One customer in twenty writes up to thirty times.
texts, _, customers = knoll.datasets.support_questions(20_000)
print(texts[:3])

# %%
# One customer writes a secret, again and again.
texts = [*texts, *["my secret word is xylophonium"] * 200]
customers = [*customers.tolist(), *[1] * 200]

# %%
# The unit of privacy is the customer: at most two questions of each count, and at most ten words.
topics = knoll.TopicMap(10, epsilon=4.0, unit=knoll.User("customer", 2), random_state=0)
topics.fit(texts, users=customers)
print(topics.summary(None)["keywords"][:5])

# %%
# The picture: topics that are near each other are alike.
figure = topics.plot()

# %%
# Words have a lift and its error: how much more often they are used in the topic than in all questions.
largest = int(topics.cluster_sizes_.argmax())
for word, lift, error in topics.keywords(largest, 5):
    print(f"{word:12} {lift:4.1f} ± {error:.1f}")

# %%
# The secret is nowhere. What that cost is part of the statement.
print("xylophonium" in topics.words_)
print(topics.privacy_)
