"""no_slower.py PLAN.json EXPLAIN.json: the plan's best against a user's own."""
import json
import sys

with open(sys.argv[1]) as plan_file, open(sys.argv[2]) as own_file:
    plan, own = json.load(plan_file), json.load(own_file)
best, theirs = plan["ranked"][0]["step_seconds"], own["own"]["step_seconds"]
assert plan["certificate"]["gap"] == 0, plan["certificate"]
assert plan["global_batch"] == own["global_batch"]
assert own["fits"] and best <= theirs, (own["fits"], best, theirs)
print(f"{plan['ranked'][0]['layout_text']}: {best:.3f} s; published "
      f"{own['own']['layout_text']}: {theirs:.3f} s")
