"""Views of the run file: answers to the usual questions, for any SQLite tool. docs/files.md explains them."""

from __future__ import annotations

from engine.journal.people import VIEW as PEOPLE

VIEWS = {
    # What comes before round 1 are replies that personas are made of.
    # A step's calls are numbered below 2048, so its later ones have keys up to key | 2047: one index probe.
    # An agent may have had a value, and then have been left out over a later question of the same step.
    "answers": """
        SELECT round, agent, value, key FROM replies
        WHERE key >= 8796093022208 AND call < 2048 AND value IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM replies AS later
          WHERE later.key > replies.key AND later.key <= (replies.key | 2047) AND later.value IS NOT NULL)
        AND NOT EXISTS (
          SELECT 1 FROM failures
          WHERE failures.key > replies.key AND failures.key <= (replies.key | 2047)
            AND action IN ('exclude', 'fallback', 'last', 'fail', 'agent stopped'))""",
    "people": PEOPLE.format(""),  # made anew with the attributes when they are written
    "population_figures": """
        SELECT json_extract(comparison.value, '$.name') AS name,
          json_extract(comparison.value, '$.kind') AS kind,
          json_extract(figure.value, '$.labels') AS labels,
          json_extract(figure.value, '$.target') AS target,
          json_extract(figure.value, '$.achieved') AS achieved
        FROM population, json_each(report, '$.comparisons') AS comparison,
          json_each(comparison.value, '$.figures') AS figure
        WHERE part = 'attributes'""",
    "rounds_overall": "SELECT * FROM rounds WHERE grp = -1",
    "round_stats": """
        SELECT round, grp, stat.key AS name, stat.value AS value
        FROM rounds, json_each(rounds.stats) AS stat""",
    "round_histogram": """
        SELECT round, grp, bin.key AS bin,
          low + (high - low) * bin.key / json_array_length(histogram) AS bin_low,
          low + (high - low) * (bin.key + 1) / json_array_length(histogram) AS bin_high,
          bin.value AS n
        FROM rounds, json_each(rounds.histogram) AS bin""",
    "failure_counts": """
        SELECT round, kind, action, count(*) AS n FROM failures GROUP BY round, kind, action""",
    "usage": """
        SELECT total.round, models.name AS model, slices.name AS slice, calls,
          tokens_in, tokens_out, tokens_cached, queued_s, busy_s,
          ((tokens_in - tokens_cached) * price_in + tokens_cached * price_cached
            + tokens_out * price_out) / 1e6 AS cost,
          currency
        FROM (SELECT round, model, slice, count(*) AS calls,
                sum(tokens_in * (samples > 0)) AS tokens_in, sum(tokens_out * (samples > 0)) AS tokens_out,
                sum(tokens_cached * (samples > 0)) AS tokens_cached,
                sum(queued_s) AS queued_s, sum(busy_s) AS busy_s
              FROM replies GROUP BY round, model, slice) AS total
        LEFT JOIN models ON models.id = total.model
        LEFT JOIN slices ON slices.id = total.slice""",
    "environment_calls": """
        SELECT round, name, grp, first + call.key AS turn,
          json_extract(call.value, '$[1]') AS caller, json_extract(call.value, '$[2]') AS method,
          json_extract(call.value, '$[3]') AS arguments, json_extract(call.value, '$[4]') AS result,
          json_extract(call.value, '$[5]') AS error, json_extract(call.value, '$[0]') AS key
        FROM _environment_calls, json_each(calls) AS call""",
    "time_split": """
        SELECT round, seconds, model_s, agents_s, messages_s, idle_s, journal_s, cpu_s
        FROM rounds WHERE grp = -1""",
    "transcript": """
        SELECT agent, round, call, replies.key AS key, prefixes.messages AS prefix,
          replies.messages AS messages, text, value, problem, finish
        FROM replies LEFT JOIN prefixes ON prefixes.id = replies.prefix ORDER BY replies.key""",
}
