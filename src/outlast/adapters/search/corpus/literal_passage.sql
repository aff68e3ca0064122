-- The first passage of each document that holds the query letter by letter.
select
    document.path,
    document.title,
    substr(document.text, passage.start_char + 1, passage.end_char - passage.start_char)
from document
join passage on passage.document_id = document.id
where
    instr(lower(document.text), lower(:literal)) between passage.start_char + 1 and passage.end_char
order by document.path
limit :limit
