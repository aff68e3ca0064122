-- Every passage that holds the term, with its BM25 weight: a word in a title or a heading weighs more than one in the text.
select rowid, -bm25(words, :title_weight, :heading_weight, 1.0)
from words
where words match :term
