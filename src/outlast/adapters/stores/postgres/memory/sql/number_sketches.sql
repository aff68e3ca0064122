UPDATE {schema}.memory_user SET sketches = sketches + $2 WHERE user_no = $1
