create table orders (id integer primary key, customer text not null, due text not null);
insert into orders (customer, due) values ('Ada', '2026-11-02'), ('Bob', '2026-11-20'), ('Cy', '2026-12-24');
