-- Words that sources attach to URLs: a malware family, a file type, a campaign.
-- Every spelling is stored; a filter finds all spellings with the same folded form.
create table tags (
  id integer primary key,
  name text not null unique,
  folded text not null
) strict;
create index tags_by_folded on tags (folded);

-- No index by tag: an export reads all URLs anyway, and the index would cost a write for each tag of an import.
create table url_tags (
  url_id integer not null,
  tag_id integer not null,
  primary key (url_id, tag_id)
) strict, without rowid;
