SELECT queue, mark FROM queue_marks
