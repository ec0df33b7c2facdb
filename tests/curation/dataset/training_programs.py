"""Programs that load the folders written for them, run in their own environments."""

from __future__ import annotations

from typing import Final

_TRL: Final = """\
import math, sys
folder, model = sys.argv[1:]
sys.path.insert(0, folder)
import csbdata, csbdata_train
from trl import GRPOConfig, GRPOTrainer
data = csbdata_train.dataset()
given = []
def reward(completions, schema, **more):
    found = csbdata_train.reward(completions, schema, **more)
    given.extend(zip(completions, schema, found))
    return found
args = GRPOConfig(
    output_dir=folder + "/out",
    max_steps=2,
    num_generations=8,
    per_device_train_batch_size=8,
    max_completion_length=14,
    temperature=0.9,
    learning_rate=1e-4,
    use_cpu=True,
    report_to=[],
    logging_steps=1,
    bf16=False,
    model_init_kwargs={"dtype": "float32"},
)
trainer = GRPOTrainer(model=model, reward_funcs=reward, args=args, train_dataset=data)
weight = next(trainer.model.parameters())
before = weight.detach().clone()
trainer.train()
losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
assert len(losses) == 2 and all(map(math.isfinite, losses))
assert len({found for *_, found in given}) > 1, "equal rewards teach nothing"
assert not weight.detach().equal(before), "no parameter changed"
assert weight.isfinite().all()
for turns, schema, found in given:
    text = turns[-1]["content"]
    score = csbdata.judge(text, schema, policy="outer_fence").score
    assert found in (score, min(score, 1 / 3)), (text, found)
print(f"{len(given)} rewards as the judge")
"""
_VERIFIERS: Final = """\
import asyncio, sys
folder, _ = sys.argv[1:]
sys.path.insert(0, folder)
import csbdata, csbdata_train
import verifiers.v1 as vf
taskset = csbdata_train.SchemaTaskset(vf.TasksetConfig())
tasks = list(taskset.take(20))


class Reply:
    def __init__(self, text):
        self.last_reply, self.rewards, self.metrics = text, {}, {}

    def record_reward(self, name, value, weight):
        self.rewards[name] = value * weight

for task in tasks:
    for text in ("", "{}", "[1]", "```json\\n{\\"a\\": 1}\\n```"):
        trace = Reply(text)
        asyncio.run(task.score(trace))
        (found,) = trace.rewards.values()
        score = csbdata.judge(text, task.data.json_schema, policy="outer_fence").score
        assert found in (score, min(score, 1 / 3)), (text, found, score)
print(f"{len(tasks)} tasks as the judge")
"""
_LM_EVAL: Final = """\
import sys
folder, model = sys.argv[1:]
import csbdata
import lm_eval
from lm_eval.tasks import TaskManager
from lm_eval.models.huggingface import HFLM
lm = HFLM(pretrained=model, device="cpu", dtype="float32")
found = lm_eval.simple_evaluate(
    model=lm,
    tasks=["csbdata_train"],
    limit=2,
    task_manager=TaskManager(include_path=folder),
    gen_kwargs={"max_gen_toks": 16},
    log_samples=True,
    bootstrap_iters=0,
)
for sample in found["samples"]["csbdata_train"]:
    (text,), = sample["resps"]
    judged = csbdata.judge(text, sample["doc"]["schema"], policy="outer_fence")
    assert sample["reward"] in (judged.score, min(judged.score, 1 / 3)), sample
    assert sample["valid"] == judged.valid, sample
print(found["results"]["csbdata_train"], "as the judge")
"""
PROGRAMS: Final = {"trl": _TRL, "verifiers": _VERIFIERS, "lm-eval": _LM_EVAL}
