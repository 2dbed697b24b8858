INSERT INTO jobs (body) VALUES (repeat('x', 1024));
