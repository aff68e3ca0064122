SELECT head FROM {schema}.streams WHERE stream = $1
