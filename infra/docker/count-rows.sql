-- Prints how many rows each table has, partitions within theirs. As a role that row level security binds it fails, and
-- counts no table as empty:  psql --dbname core --tuples-only --no-align --file infra/docker/count-rows.sql
\set ON_ERROR_STOP 1
SET row_security = off;
SELECT format('SELECT %L, count(*) FROM %I', relname, relname)
  FROM pg_class
 WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
 ORDER BY relname
\gexec
