DELETE FROM payload_references WHERE stream = :stream RETURNING digest
