-- breaking
-- An older program would change a URL and leave its ready answer as it was.

-- answer: the body of `last` behind id and URL, ready to be sent; null where it has to be made from the other tables, as
-- for every URL of before until it changes: to make them all here would keep a large store from starting for minutes.
-- Whoever changes what it shows sets it to null in the same statement; what becomes known of a file changes the answers of
-- all URLs that served it last, so `family_spreads` from now on has every such file, with a new family or without.
alter table urls add column answer text;
