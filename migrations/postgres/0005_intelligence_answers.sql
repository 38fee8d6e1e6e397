-- Ready answers are of the embedded store alone; see migrations/sqlite. Here the way to the server costs more than the
-- joins.
select 1;
