INSERT INTO queue_marks (queue, mark) VALUES (:queue, 1) ON CONFLICT (queue) DO UPDATE SET mark = mark + 1
