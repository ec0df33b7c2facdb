"""Is a submission to the leaderboard whole, and is it what the models answered?

A submission is a folder: response files in the authors' layout, and what was computed
of them (`eval_records*.jsonl`, `eval_summary*.json`), where that is submitted too.
"""
