# %% [markdown]
# # From a folder of sessions to a chart
#
# A script in the form of a notebook: editors run its cells one by one, and `python notebook.py FOLDER CHART` runs all of them.

# %%
import sys

import altair as alt
import polars as pl

import ctxsim

folder, chart_file = sys.argv[1:3]

# %% [markdown]
# Every session of the folder, under the prices of its own model, with the seven usual policies.

# %%
report = ctxsim.compare(folder)
print(report.verdict)

# %% [markdown]
# Tables come without a copy. Here: what each policy costs, and how much of the needed evidence its prompts still hold.

# %%
runs = pl.DataFrame(report.runs)
costs = (
    runs.group_by("policy", maintain_order=True)
    .agg(usd=pl.col("cost_usd.total").sum(), evidence=pl.col("evidence_kept").mean())
    .sort("usd")
)
print(costs)

# %% [markdown]
# The longest prompts, request by request. `total_usd` adds to `cost_usd`, the request's own cost, what is expected beside it, such as fetching
# again: over a run, it adds up to `cost_usd.total`.

# %%
requests = pl.DataFrame(report.requests)
longest = requests.group_by("policy", maintain_order=True).agg(pl.col("prompt_tokens").max(), pl.col("total_usd").sum())
print(longest)

# %%
chart = (
    alt.Chart(alt.Data(values=costs.to_dicts()))
    .mark_bar()
    .encode(x=alt.X("usd:Q", title="US dollars"), y=alt.Y("policy:N", sort="x"), color=alt.Color("evidence:Q", scale=alt.Scale(domain=[0, 1])))
)
chart.save(chart_file)

# %% [markdown]
# In a notebook, the report itself is a page with tables and charts.

# %%
report  # noqa: B018
