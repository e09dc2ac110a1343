"""The tables of the run file, and how a file gets from one version of them to the next.

The comments inside the SQL are stored in the file, so that `.schema` in any SQLite tool explains it.
The SQL keeps to SQLite 3.31 (2020), the first with generated columns.
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations

from engine.journal.people import PEOPLE
from engine.journal.version import APPLICATION_ID, SCHEMA_VERSION
from engine.journal.views import VIEWS

MIGRATIONS = Migrations("simtui")

# The packing of engine.keys, in figures: a file that exists does not change with the code.
_KEY = """
  key INTEGER NOT NULL,      -- round << 43 | agent << 12 | call
  round INTEGER GENERATED ALWAYS AS (key >> 43) VIRTUAL,  -- from 1
  agent INTEGER GENERATED ALWAYS AS ((key >> 12) & 2147483647) VIRTUAL,  -- from 0
  call INTEGER GENERATED ALWAYS AS (key & 4095) VIRTUAL,  -- from 0; from 2048: asked by others
"""

# The key is a unique index beside rows in order of arrival, not the primary key: rows with texts then never
# move. One million rows in scattered order cost 17 us each with the key as primary key, 6 us like this; in
# ascending order 3.4 and 4.2 us. The long columns come last, so that reading the others skips them.
_REPLIES = f"""
CREATE TABLE replies (       -- one row a reply of a model, in order of arrival
{_KEY}
  model INTEGER REFERENCES models(id),
  prompt INTEGER,            -- hash of the whole prompt
  prefix INTEGER REFERENCES prefixes(id),  -- its leading messages, shared by many prompts
  form INTEGER REFERENCES forms(id),       -- the answer asked for, and the sampling
  value,                     -- the answer read from the text: REAL, TEXT, or JSON text of an object
  problem TEXT,              -- what was wrong with the reply
  finish TEXT,               -- stop, length, context, timeout or error
  tokens_in INTEGER,         -- of the whole prompt
  tokens_out INTEGER,
  tokens_cached INTEGER,     -- those of tokens_in that cost no work
  queued_s REAL,             -- from arrival at the model to the start of work
  busy_s REAL,               -- from there to the end
  slice INTEGER,             -- of the population, of slices(id); 0: outside of all
  samples INTEGER,           -- equal prompts in the request; 0: from the answer cache, at no cost
  logprob REAL,              -- ln of the probability of the reply's tokens; NULL if not asked for
  text TEXT,                 -- the reply; NULL where transcripts are not kept
  messages TEXT,             -- the prompt after its prefix, JSON [[role, content], ...]; NULL likewise
  UNIQUE (key)
)"""

_PREFIXES = """
CREATE TABLE prefixes (      -- messages that many prompts begin with
  id INTEGER PRIMARY KEY,    -- hash of the content
  messages TEXT              -- JSON [[role, content], ...]
)"""

_FORMS = """
CREATE TABLE forms (         -- what many requests have in common besides their prompt
  id INTEGER PRIMARY KEY,    -- hash of the content
  form TEXT                  -- JSON {"answer": {...}, "sampling": {...}}
)"""

_MODELS = """
CREATE TABLE models (
  id INTEGER PRIMARY KEY,
  name TEXT,
  backend TEXT,
  description TEXT,          -- JSON: settings, file hash or server version
  price_in REAL,             -- of a million tokens, in currency; NULL if it has no prices
  price_out REAL,
  price_cached REAL,
  currency TEXT
)"""

_SLICES = """
CREATE TABLE slices (        -- parts of the population that think, or are asked, differently
  id INTEGER PRIMARY KEY,    -- from 1, in the order of the preset
  name TEXT
)"""

_FAILURES = f"""
CREATE TABLE failures (      -- one row a reply or agent that failed
{_KEY}
  kind TEXT NOT NULL,        -- as replies.problem, or what happened to the agent
  detail TEXT,
  traceback TEXT,            -- of the agent's own code
  action TEXT,               -- what was done about it
  UNIQUE (key, kind)
)"""

_MESSAGES = """
CREATE TABLE messages (      -- one row a message between agents that was handled
  key INTEGER,               -- of the call that asks; NULL for a told message
  kind TEXT NOT NULL,        -- tell or ask
  round INTEGER NOT NULL,    -- in which it was handled
  receiver INTEGER NOT NULL, -- agent
  turn INTEGER NOT NULL,     -- from 0: in the inbox, or among the questions answered in this round
  sender INTEGER NOT NULL,   -- agent
  message TEXT,              -- JSON; NULL where transcripts are not kept
  answer TEXT,               -- JSON, of an ask
  error TEXT,                -- why there is no answer
  UNIQUE (round, receiver, kind, turn)
)"""

_CALLS = """
CREATE TABLE _environment_calls (  -- many calls of environments to a row; the view has one to a row
  environment INTEGER NOT NULL,    -- its id, beyond those of all agents
  name TEXT,
  grp INTEGER,               -- -1: one for all groups
  round INTEGER NOT NULL,
  first INTEGER NOT NULL,    -- calls of the round before these
  n INTEGER,
  calls TEXT,                -- JSON [[key or null, caller, method, [argument, ...], result, error], ...]
  PRIMARY KEY (round, environment, first)
) WITHOUT ROWID"""

_ROUNDS = """
CREATE TABLE rounds (        -- how a round ended in each group, and in all of them together
  round INTEGER NOT NULL,
  grp INTEGER NOT NULL,      -- -1: all groups
  n_answered INTEGER,
  n_excluded INTEGER,        -- no acceptable answer in this round
  n_failed INTEGER,          -- stopped by an error of their own, up to and in this round
  n_affected INTEGER,        -- with an entry in failures in this round
  stats TEXT,                -- JSON {name: number or text}
  histogram TEXT,            -- JSON [count, ...] of equal bins from low to high
  low REAL,
  high REAL,
  started REAL,              -- seconds since 1970
  seconds REAL,
  cpu_s REAL,                -- of all processes together
  model_s REAL,              -- these four add up to seconds; mean over workers: waiting on the model,
  agents_s REAL,             -- running agents' code and parsing replies,
  messages_s REAL,           -- packing, sending and unpacking batches,
  idle_s REAL,               -- waiting for others
  journal_s REAL,            -- writing this file, beside the rest
  unaffected TEXT,           -- stats without the affected agents, if there are any
  PRIMARY KEY (round, grp)
) WITHOUT ROWID"""

_WORDS = """
CREATE TABLE _words (        -- what stands for a number in _people, by the number of its column
  attribute INTEGER,
  place INTEGER,
  word TEXT,
  PRIMARY KEY (attribute, place)
) WITHOUT ROWID"""

_PERSONAS = """
CREATE TABLE personas (      -- who agents are, in words
  agent INTEGER PRIMARY KEY,
  written INTEGER,           -- 1: by a model; 0: by the preset's template
  text TEXT
)"""

_BIRTHS = """
CREATE TABLE births (        -- agents that came while the run went on
  agent INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL,   -- the agent that asked for it
  round INTEGER NOT NULL,    -- the first in which it acts
  name TEXT,
  attributes TEXT,           -- JSON, from its parent
  persona TEXT               -- likewise
)"""

_RETIREMENTS = """
CREATE TABLE retirements (   -- agents that left while the run went on
  agent INTEGER PRIMARY KEY,
  round INTEGER NOT NULL,    -- the first in which it does not act
  said_by INTEGER NOT NULL   -- itself, or its parent
)"""

_POPULATION = """
CREATE TABLE population (    -- how close people come to what the preset asks for
  part TEXT PRIMARY KEY,
  report TEXT                -- JSON
) WITHOUT ROWID"""

_SNAPSHOTS = """
CREATE TABLE _snapshots (    -- agents between two rounds, to go on from; the replies are enough without them
  round INTEGER NOT NULL,    -- the last that they have ended
  grp INTEGER NOT NULL,
  first INTEGER NOT NULL,    -- agent
  n INTEGER NOT NULL,        -- agents from there on
  code TEXT NOT NULL,        -- hash of the scenario's code
  observation BLOB,          -- what the group hears next, msgpack
  state BLOB,                -- msgpack
  UNIQUE (round, first)
)"""

_EVENTS = """
CREATE TABLE events (        -- what happened to the run, in order
  id INTEGER PRIMARY KEY,
  time REAL,                 -- seconds since 1970
  kind TEXT,
  detail TEXT
)"""

_META = """
CREATE TABLE meta (          -- facts about the whole run
  key TEXT PRIMARY KEY,
  value
)"""


@MIGRATIONS()
def v1_first(db: Database) -> None:
    """Make tables and views."""
    of_replies = (_REPLIES, _PREFIXES, _FORMS, _MODELS, _SLICES, _FAILURES)
    of_runs = (_MESSAGES, _CALLS, _ROUNDS, _EVENTS, _META, _SNAPSHOTS)
    for table in (
        *of_replies,
        *of_runs,
        PEOPLE.format(""),
        _WORDS,
        _PERSONAS,
        _POPULATION,
        _BIRTHS,
        _RETIREMENTS,
    ):
        db.execute(table)
    for name, select in VIEWS.items():
        db.create_view(name, select)


def migrate(db: Database) -> None:
    """Bring a file, new or old, to this version of the schema."""
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    MIGRATIONS.apply(db)
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
