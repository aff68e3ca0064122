create table document (
    id integer primary key,
    path text not null unique,
    stamp text not null,
    digest text not null,
    title text not null,
    media_type text not null,
    size_bytes integer not null,
    is_cut integer not null,
    note text not null,
    problem text not null,
    text text not null
) strict;

create table passage (
    id integer primary key,
    document_id integer not null references document (id) on delete cascade,
    start_char integer not null,
    end_char integer not null
) strict;

create index passage_of_document on passage (document_id);

create virtual table words using fts5 (title, heading, body, tokenize = 'porter unicode61');

create trigger passage_gone after delete on passage begin
    delete from words where rowid = old.id;
end;
