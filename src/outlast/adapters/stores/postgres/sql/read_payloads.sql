SELECT digest, content FROM {schema}.payloads WHERE digest = ANY($1::text[])
