select
    passage.id,
    document.path,
    document.title,
    substr(document.text, passage.start_char + 1, passage.end_char - passage.start_char)
from passage
join document on document.id = passage.document_id
where passage.id in (select value from json_each(:ids))
