-- The passages that hold any of the terms, best first: a word in a title or a heading weighs more than one in the text.
select
    document.path,
    document.title,
    substr(document.text, passage.start_char + 1, passage.end_char - passage.start_char),
    -bm25(words, :title_weight, :heading_weight, 1.0) as score
from words
join passage on passage.id = words.rowid
join document on document.id = passage.document_id
where words match :expression
order by score desc, document.path, passage.start_char
limit :limit
