#!/usr/bin/env python3
"""Writes a file in the shape of LongMemEval: made-up chats, each with one question. Nothing of the benchmark is copied."""

import json
import random
import sys

TYPES = ["single-session-user", "single-session-assistant", "single-session-preference", "knowledge-update",
         "multi-session", "temporal-reasoning"]
WORDS = "the a of to in we plan order train garden recipe meeting report price colour window river music".split()


def text(draws, n):
    return " ".join(draws.choice(WORDS) for _ in range(n))


def question(draws, nth, sessions, messages, words):
    kind = TYPES[nth % len(TYPES)]
    n_evidence = {"knowledge-update": 2, "multi-session": 3, "temporal-reasoning": 2}.get(kind, 1)
    places = sorted(draws.sample(range(sessions), n_evidence))
    ids = [f"q{nth}_s{it}" for it in range(sessions)]
    chats = []
    for place in range(sessions):
        turns = []
        for turn in range(messages):
            role = "user" if turn % 2 == 0 else "assistant"
            turns.append({"role": role, "content": text(draws, words)})
        if place in places:
            turns[0 if kind != "single-session-assistant" else 1]["has_answer"] = True
        chats.append(turns)
    return {
        "question_id": f"made_{nth}" + ("_abs" if nth % 20 == 19 else ""),
        "question_type": kind,
        "question": text(draws, 12) + "?",
        "answer": text(draws, 3),
        "question_date": "2024/01/01 (Mon) 10:00",
        "haystack_dates": [f"2023/{1 + it // 28:02}/{1 + it % 28:02} (Mon) 10:00" for it in range(sessions)],
        "haystack_session_ids": ids,
        "haystack_sessions": chats,
        "answer_session_ids": [ids[it] for it in places],
    }


def main():
    n, sessions, messages, words = (int(it) for it in (sys.argv[1:] + ["100", "48", "12", "170"][len(sys.argv) - 1:]))
    draws = random.Random(63)
    sys.stdout.write("[")
    for nth in range(n):
        sys.stdout.write(",\n" if nth else "\n")
        json.dump(question(draws, nth, sessions, messages, words), sys.stdout)
    sys.stdout.write("\n]\n")


main()
