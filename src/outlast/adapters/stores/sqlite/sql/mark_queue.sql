INSERT INTO queue_marks (queue, mark) VALUES (?1, 1) ON CONFLICT (queue) DO UPDATE SET mark = mark + 1
