# %% [markdown]
# # From a folder of sessions to a table and a chart
#
# A script in the form of a notebook: editors run its cells one by one, and `python notebook.py FOLDER CHART` runs all of them. Saved with its output, it
# is a file of less than 30 kB.

# %%
import sys

import altair as alt
import polars as pl

import ctxsim

folder, chart_file = sys.argv[1:3]

# %% [markdown]
# Every session of the folder, under the prices of its own model, with the seven usual policies: what to do, a table and a chart. `report.html()` is the
# whole page.

# %%
bench = ctxsim.Workbench(folder)
report = bench.compare()
print(report.verdict)
report

# %% [markdown]
# Tables come without a copy, with the policy and its cost first.

# %%
sums = pl.DataFrame(report.sums).group_by("policy", maintain_order=True).agg(usd=pl.col("cost_usd.total").sum())
print(sums.sort("usd"))
alt.Chart(alt.Data(values=sums.to_dicts())).mark_bar().encode(
    x=alt.X("usd:Q", title="US dollars"), y=alt.Y("policy:N", sort="x")
).save(chart_file)

# %% [markdown]
# Requests, one by one. `cost_usd` is a request's own cost; `total_usd` adds what is expected beside it, such as fetching again, and only its sum over a
# run is the run's cost, `cost_usd.total`.

# %%
requests = pl.DataFrame(report.requests)
by_policy = requests.group_by("policy", maintain_order=True)
print(by_policy.agg(pl.col("prompt_tokens").max(), pl.col("total_usd").sum()))

# %% [markdown]
# What the sessions were billed, and what other prices would change. Each answer has values, such as `bill.total_usd`, and tables.

# %%
bill = ctxsim.bill(bench)
print(bill.total_usd)
bill.parts

# %%
ctxsim.sensitivity(bench, policies=["identity", "clear_tool_results"], profiles=["anthropic/claude-sonnet-4.5", "openai/gpt-6.1-terra"]).cheapest
